import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { z } from 'zod';
import { cut, oneLine } from '../domain/text.js';
import { type CommandEnd, runCommand } from '../runner/attach.js';
import { commandDir } from '../runner/layout.js';
import { SEGMENT_BYTES } from '../runner/output.js';
import { LiveText } from '../runner/terminal-text.js';
import { workspaceGone } from '../workspace/paths.js';
import { commandApproval } from './command-approval.js';
import { describeOutput } from './command-result.js';
import { commandTimeout } from './command-timeout.js';
import { type RunContext, type Tool, ToolError, type ToolOutcome } from './tool.js';

const schema = z.object({
  command: z.string().describe('The command, as for bash -c. It runs in the workspace; nothing can be typed into it.'),
  requires_approval: z
    .union([z.boolean(), z.string()])
    .optional()
    .describe(
      'true when the command could do damage: deletes, overwrites, installs, changes the system, uses the network.',
    ),
  timeout: z
    .union([z.number(), z.string()])
    .optional()
    .describe(
      'Seconds after which the command and all its processes are ended. Set it for builds, installations and tests.',
    ),
});

/** Runs a shell command under the command runner, so that a crash neither repeats nor loses it. */
export const executeCommand: Tool<typeof schema> = {
  name: 'execute_command',
  description:
    'Runs a shell command in the workspace and returns its exit code and its output (standard output and error together; ' +
    'of long output the first and last 250 lines). There is no terminal: prompts, pagers and editors get no input. ' +
    'A background process (&) goes on after the call and is ended with the task; redirect its output to a file to see it.',
  schema,
  effect: 'attachable',
  async prepare(args, ctx) {
    const command = commandOf(args.command, ctx.workspace);
    secondsOf(args.timeout);
    const approval = await commandApproval(command, ctx, isTrue(args.requires_approval));
    return { ...approval, summary: oneLine(`execute_command ${command}`, 120), preview: command };
  },
  async run(args, ctx) {
    const command = commandOf(args.command, ctx.workspace);
    return runShellCommand(ctx, command, {
      timeoutMs: commandTimeout(command, secondsOf(args.timeout), ctx.policy.yolo),
    });
  },
};

/** Without a leading `cd WORKSPACE &&`, which is where it runs anyway. @throws ToolError */
function commandOf(text: string, workspace: string): string {
  if (text.includes('\0')) throw new ToolError('The command contains a NUL character, which no command line can hold.');
  const command = stripCd(text, workspace);
  if (command.trim() === '') throw new ToolError('The command is empty. Call execute_command with the command to run.');
  return command;
}

/** The model's own view of the risk; what is not clearly false counts as true. */
function isTrue(given: boolean | string | undefined): boolean {
  return given !== undefined && given !== false && !/^(false|)$/i.test(String(given).trim());
}

function stripCd(text: string, workspace: string): string {
  for (const folder of [workspace, `"${workspace}"`, `'${workspace}'`]) {
    const rest = text.trimStart().slice(`cd ${folder}`.length);
    if (text.trimStart().startsWith(`cd ${folder}`) && /^\/?\s*&&/.test(rest)) return rest.replace(/^\/?\s*&&\s*/, '');
  }
  return text;
}

/** @throws ToolError */
function secondsOf(timeout: number | string | undefined): number | undefined {
  if (timeout === undefined || timeout === '') return undefined;
  const seconds = Number(timeout);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new ToolError(`timeout has to be a number of seconds above 0, not ${oneLine(String(timeout), 40)}.`);
}

/**
 * Runs `command` in the workspace under the runner, once for this call whoever executes it again, and words the result
 * for the model. A command that fails is `done`: its exit code is for the model to read.
 *
 * @param options.timeoutMs null: none
 * @throws CommandDetached when the execution is no longer wanted here; there is no outcome then
 */
export async function runShellCommand(
  ctx: Pick<
    RunContext,
    'workspace' | 'task' | 'run' | 'call' | 'commandsDir' | 'secretVariables' | 'signal' | 'stopKind' | 'partial'
  >,
  command: string,
  options: { timeoutMs: number | null },
): Promise<ToolOutcome> {
  const live = new LiveOutput(ctx.partial);
  try {
    const end = await runCommand({
      dir: commandDir(ctx.commandsDir, ctx.task, ctx.call),
      spec: {
        task: ctx.task,
        call: ctx.call,
        command,
        cwd: ctx.workspace,
        env: {},
        scrub: [...(ctx.secretVariables ?? [])],
        timeoutMs: options.timeoutMs,
      },
      ...(ctx.run === undefined ? {} : { run: ctx.run }),
      signal: ctx.signal,
      stopKind: () => ctx.stopKind(),
      onOutput: (bytes) => live.push(bytes),
    });
    live.finish();
    const gone = end.end === 'failed' && !existsSync(ctx.workspace);
    return gone ? workspaceIsGone(ctx.workspace) : outcomeOf(end, options.timeoutMs);
  } finally {
    live.stop();
  }
}

/** Shows output while it arrives: the first piece at once, then at most 25 pieces a second, 256 KB in all. */
class LiveOutput {
  private readonly text = new LiveText();
  private waiting = '';
  private offset = 0;
  private bytes = 0;
  private last = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly show: RunContext['partial']) {}

  push(bytes: Buffer): void {
    this.bytes += bytes.length;
    this.waiting += this.text.push(bytes);
    if (this.bytes >= SEGMENT_BYTES) this.waiting += '\n[... more output is not shown live ...]\n';
    const wait = this.last + FLUSH_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), wait);
  }

  finish(): void {
    this.waiting += this.text.push();
    this.flush();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private flush(): void {
    this.stop();
    if (this.waiting === '') return;
    this.show({ kind: 'command_output', offset: this.offset, text: this.waiting });
    this.offset += this.waiting.length;
    this.waiting = '';
    this.last = performance.now();
  }
}

const FLUSH_MS = 40;

function workspaceIsGone(workspace: string): ToolOutcome {
  return { status: 'error', mistake: false, text: workspaceGone(workspace), excerpt: 'the workspace folder is gone' };
}

function outcomeOf(end: CommandEnd, timeoutMs: number | null): ToolOutcome {
  const { status, headline, short } = wordEnd(end, timeoutMs);
  const living =
    end.living === 0
      ? []
      : [
          `${end.living === 1 ? 'A process' : `${end.living} processes`} of this command still ${end.living === 1 ? 'runs' : 'run'} in ` +
            'the background, until the task ends. Do not start it again.',
        ];
  const output = describeOutput(end);
  const text = [headline, ...living, output === '' ? 'It printed nothing.' : `Output:\n${output}`].join('\n');
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  const slug = end.end === 'unknown' && { slug: 'command-unknown-outcome' as const };
  return { status, text, ...slug, excerpt: oneLine(last === '' ? short : `${short} · ${cut(last, 300)}`, 200) };
}

function wordEnd(
  end: CommandEnd,
  timeoutMs: number | null,
): { status: ToolOutcome['status']; headline: string; short: string } {
  const done = 'done' as const;
  switch (end.end) {
    case 'exited': {
      const code = end.code ?? 0;
      if (code === 0) return { status: done, headline: 'The command finished with exit code 0.', short: 'exit code 0' };
      const as = signalOfCode(code);
      const headline = `The command failed with exit code ${code}${as ? ` (a process in it was ended by ${as})` : ''}.`;
      return { status: done, headline, short: `exit code ${code}` };
    }
    case 'signalled':
      return { status: done, headline: `The command was killed by ${end.signal}.`, short: `killed by ${end.signal}` };
    case 'timed_out': {
      const seconds = `${(timeoutMs ?? end.ms ?? 0) / 1000} s`;
      const headline =
        `The command timed out after ${seconds} and was ended with all its processes. ` +
        'If it needs longer, call it with a larger timeout.';
      return { status: done, headline, short: `timed out after ${seconds}` };
    }
    case 'output_limit':
      return {
        status: done,
        headline: 'The command was ended because it printed far too much.',
        short: 'ended, too much output',
      };
    case 'failed':
      return {
        status: 'error',
        headline: `The command could not be started, and nothing has run: ${end.message ?? 'no reason given'}`,
        short: 'could not be started',
      };
    case 'cancelled':
      return {
        status: 'interrupted',
        headline: 'The command was interrupted, and all its processes were ended. It may have done part of its work.',
        short: 'interrupted',
      };
    case 'unknown':
      return {
        status: 'unknown',
        headline:
          'The outcome of this command is unknown: it had begun when the machine or its processes died. It may have done ' +
          'all, a part or nothing of its work, and it was not run again. Look at its effects before you decide to repeat it.',
        short: 'outcome unknown',
      };
  }
}

/** Shells report a process killed by signal N as exit code 128 + N. */
function signalOfCode(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}
