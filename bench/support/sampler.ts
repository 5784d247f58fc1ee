const EVERY_MS = 500;

/** Points on a line, for each name. */
export type CpuSampler<Name extends string> = Record<Name, { at: number; value: number }[]> & { stop(): void };

/** Reads the CPU time of processes now and then, until it is stopped. */
export function sampleCpu<Name extends string>(sources: Record<Name, () => number>): CpuSampler<Name> {
  const names = Object.keys(sources) as Name[];
  const points = Object.fromEntries(names.map((name) => [name, []])) as unknown as CpuSampler<Name>;
  const sample = () => {
    for (const name of names) points[name].push({ at: Date.now(), value: sources[name]() });
  };
  sample();
  const timer = setInterval(sample, EVERY_MS);
  return Object.assign(points, {
    stop: () => {
      clearInterval(timer);
      sample();
    },
  });
}
