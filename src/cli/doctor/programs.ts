import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** ms that a program gets to say its version. */
const VERSION_MS = 4_000;

export type VersionAnswer = { said: string } | { missing: true } | { failed: string };

/** What `PROGRAM --version` prints first. @param program name, looked up on the PATH of `env`, or path */
export async function versionOf(program: string, env: NodeJS.ProcessEnv): Promise<VersionAnswer> {
  try {
    const { stdout } = await run(program, ['--version'], { env, timeout: VERSION_MS, killSignal: 'SIGKILL' });
    return { said: stdout.split('\n')[0]?.trim() ?? '' };
  } catch (err) {
    const { code, killed, message } = err as NodeJS.ErrnoException & { killed?: boolean };
    if (code === 'ENOENT') return { missing: true };
    if (killed) return { failed: `it did not answer within ${VERSION_MS / 1000} s` };
    return { failed: message.split('\n').slice(0, 2).join(' ').trim() };
  }
}
