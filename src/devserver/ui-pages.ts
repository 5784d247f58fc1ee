import { execFile, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type RunningChild, runningChild } from '../service/child.js';
import { OPTIONAL_FLAGS, pageServerFlags } from './flags.js';
import { freePort } from './ports.js';
import { withoutTemporalSettings } from './server.js';

const run = promisify(execFile);

/** ms without a request for a page after which their server ends. */
const IDLE_MS = 5 * 60_000;

/** ms within which it must answer; about one second on an idle machine. */
const READY_MS = 30_000;

export interface UiPagesOptions {
  /** The Temporal CLI, which carries the pages. */
  binary: () => Promise<string>;
  env: NodeJS.ProcessEnv;
  /** Called right after the process has been started. */
  onSpawn?: (child: RunningChild) => void;
}

/**
 * The pages of Temporal's UI: only the Temporal CLI has them, and it serves them beside a whole server. So they come
 * from a second server that is empty and in memory, runs only while somebody looks at the UI, and is never asked for
 * anything but pages. What reaches it past the gate finds nothing there.
 */
export class UiPages {
  private server: Promise<{ child: RunningChild; port: number }> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: UiPagesOptions) {}

  /** The port that serves the pages now; started when needed. Throws when it cannot be. */
  async port(): Promise<number> {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.stop(), IDLE_MS);
    this.timer.unref();
    this.server ??= this.start();
    return (await this.server).port;
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    const server = this.server;
    this.server = undefined;
    const child = await server?.then(
      (started) => started.child,
      () => undefined,
    );
    await child?.stop(0);
  }

  private async start(): Promise<{ child: RunningChild; port: number }> {
    try {
      const binary = await this.options.binary();
      const { stdout } = await run(binary, ['server', 'start-dev', '--help'], { timeout: 20_000 });
      const optional = OPTIONAL_FLAGS.filter((flag) => stdout.includes(`${flag} `));
      const grpc = await freePort();
      const port = await freePort([grpc]);
      const child = this.spawn(binary, pageServerFlags(grpc, port, optional));
      void child.exited.then(() => {
        this.server = undefined;
      });
      if (await answers(port, child.exited)) return { child, port };
      await child.stop(0);
      throw new Error('the server of the pages did not start');
    } catch (err) {
      this.server = undefined;
      throw err;
    }
  }

  private spawn(binary: string, flags: string[]): RunningChild {
    // a server in memory would leave a file in the home of its user
    const { HOME: _, ...env } = withoutTemporalSettings(this.options.env);
    const process = spawn(binary, flags, { stdio: 'ignore', detached: true, env });
    const child = runningChild(process, 'the server of the pages');
    this.options.onSpawn?.(child);
    return child;
  }
}

/** Whether the pages are served within the time that they have for it. */
async function answers(port: number, exited: Promise<unknown>): Promise<boolean> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  for (const until = Date.now() + READY_MS; !ended && Date.now() < until; await sleep(25)) {
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/settings`).catch(() => undefined);
    if (reply?.ok) return true;
  }
  return false;
}
