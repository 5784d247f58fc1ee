import { PointRunner } from './points.js';

/**
 * Kills the worker of a small task at every point: `npm run chaos`, or at one: `npm run chaos -- --point 17`.
 * @returns the exit code
 */
export async function main(args: string[]): Promise<number> {
  const at = args.indexOf('--point');
  const only = at < 0 ? undefined : Number(args[at + 1]);
  const runner = await PointRunner.start();
  let failed = 0;
  try {
    const names = await runner.count();
    const points = only === undefined ? names.map((_, i) => i + 1) : [only];
    for (const point of points) {
      const { died, problems, honest } = await runner.play({ LONGHAUL_FAULT_POINT: String(point) });
      if (problems.length > 0) failed++;
      const how =
        problems.length > 0
          ? problems.join(' ')
          : `ok${died ? '' : ', not reached'}${honest ? `, ${honest} said to be cut` : ''}`;
      process.stdout.write(`point ${point} of ${names.length}, ${names[point - 1] ?? '?'}: ${how}\n`);
    }
    process.stdout.write(`${points.length} points, ${failed} failed\n`);
  } finally {
    await runner.stop();
  }
  return failed === 0 ? 0 : 1;
}
