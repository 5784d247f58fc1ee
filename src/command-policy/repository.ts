import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Longest time that git may take to say how it is set up, ms, and most that it may print. */
const LIMITS = { timeout: 5_000, maxBuffer: 64 * 1024 * 1024 } as const;

/** Settings of a repository that name no program, no other file and no server that git would go to by itself. */
const HARMLESS_SETTINGS = new RegExp(
  `^(?:${[
    'core\\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|longpaths|untrackedcache|splitindex|commitgraph|multipackindex|whitespace|commentchar|trustctime|checkstat|preloadindex|sharedrepository|compression|hidedotfiles|packedgitlimit|bigfilethreshold)',
    'remote\\..+\\.(?:url|pushurl|fetch|push|tagopt|prune|prunetags|mirror|skipdefaultupdate|gh-resolved)',
    'branch\\..+\\.(?:remote|merge|pushremote|rebase|description|vscode-merge-base|gh-merge-base|github-pr-owner-number)',
    'extensions\\.(?:objectformat|refstorage|worktreeconfig|relativeworktrees)',
    '(?:user|author|committer)\\.(?:name|email|useconfigonly)|user\\.signingkey|commit\\.gpgsign|tag\\.gpgsign',
    'status\\.(?:showuntrackedfiles|relativepaths|short|branch|renames|aheadbehind)',
    '(?:pull|push|fetch|merge|rebase|rerere|advice|color|column|index|pack|gc|maintenance|receive|stash|init|i18n|versionsort|feature|checkout|worktree)\\.(?!.*(?:cmd|command|tool|driver|auto$))[a-z.-]+',
    'log\\.(?:date|decorate|follow|abbrevcommit)|diff\\.(?:renames|algorithm|mnemonicprefix|noprefix|colormoved|context|renamelimit|indentheuristic|autorefreshindex)',
    'lfs\\.(?:repositoryformatversion|.+\\.(?:access|locksverify))',
    'submodule\\.(?:active|recurse|fetchjobs)|http\\.(?:postbuffer|version|lowspeedlimit|lowspeedtime)',
  ].join('|')})$`,
);

/**
 * Why git could run a program that is set up in the repository at `folder`, or that lies in it; undefined when it cannot.
 * @param workTree the command looks at the files of the work tree
 */
export async function hostileSettings(
  folder: string,
  env: NodeJS.ProcessEnv,
  workTree: boolean,
): Promise<string | undefined> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: folder, env, ...LIMITS })).stdout;
  try {
    const wrong = riskySetting(await git('config', '--list', '--show-scope', '-z'));
    if (wrong !== undefined || !workTree) return wrong;
    const hook = (await git('rev-parse', '--git-path', 'hooks/post-index-change').catch(() => '')).replace(/\n$/, '');
    if (hook === '') return undefined;
    if (existsSync(resolve(folder, hook))) return 'the repository has a hook that it could run';
    // submodules have settings of their own
    const index = await git('-c', 'core.fsmonitor=false', 'ls-files', '--stage', '-z', '--', ':/');
    return /(?:^|\0)160000 /.test(index) ? 'the repository has submodules, with settings of their own' : undefined;
  } catch {
    return 'it cannot be found out what git is set up to run';
  }
}

/** @param list scope NUL key NEWLINE value NUL ... */
function riskySetting(list: string): string | undefined {
  const fields = list.split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const scope = fields[at] ?? '';
    const [key = '', ...lines] = (fields[at + 1] ?? '').split('\n');
    const value = lines.join('\n');
    if (key === 'core.fsmonitor' && /^(true|false|)$/i.test(value)) continue;
    if (scope !== 'local' && scope !== 'worktree') {
      // a person's own, unless it leads into whatever folder git is in
      if (/^core\.(hookspath|fsmonitor)$/.test(key) && !isAbsolute(value) && !value.startsWith('~'))
        return `${key} is set to ${value}`;
      continue;
    }
    if (!HARMLESS_SETTINGS.test(key)) return `the repository sets ${key}`;
  }
  return undefined;
}
