import { type ChildProcess, spawn } from 'node:child_process';

/** Runs a command in a terminal of its own and passes everything on: keys from its input, the screen to its output. */
const RELAY = `
import os, pty, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    ready, _, _ = select.select([fd, 0], [], [])
    for one in ready:
        try:
            data = os.read(one, 65536)
        except OSError:
            data = b''
        if not data:
            sys.exit(0)
        os.write(fd if one == 0 else 1, data)
`;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is sent
const CONTROLS = /\u001b\[[0-9;?]*[A-Za-z]|\u001b[=>]|[\u0007\r]/g;

/** A program in a terminal, as a person has it. */
export class Terminal {
  private readonly child: ChildProcess;
  private screen = '';

  constructor(command: string[], options: { env: NodeJS.ProcessEnv; cwd: string }) {
    this.child = spawn('python3', ['-c', RELAY, ...command], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.screen += text;
    });
  }

  type(keys: string): void {
    this.screen = '';
    this.child.stdin?.write(keys);
  }

  /** What has appeared since the last keys, without controls, once it matches. @throws Error after `ms` */
  async until(wanted: RegExp, ms = 15_000): Promise<string> {
    for (const end = Date.now() + ms; ; ) {
      const shown = this.screen.replace(CONTROLS, '');
      if (wanted.test(shown)) return shown;
      if (Date.now() > end) throw new Error(`${wanted} has not appeared in ${ms} ms:\n${shown}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  }

  end(): void {
    this.child.kill('SIGKILL');
    this.child.stdin?.destroy();
  }
}
