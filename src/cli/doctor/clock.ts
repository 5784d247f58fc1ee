import { duration } from '../text.js';
import { type Check, type Finding, ok, warn } from './row.js';

/** ms by which a clock may be wrong; the provider's is given in whole seconds. */
const MOST_MS = 60_000;

export const clockCheck: Check = {
  name: 'clock',
  look: async ({ model }) => {
    const reached = (await model())?.reached;
    return reached?.answered && reached.clock ? clockFinding(reached.clock) : undefined;
  },
};

/** Both in ms since the epoch. */
export function clockFinding({ theirs, ours }: { theirs: number; ours: number }): Finding {
  const ahead = ours - theirs;
  if (Math.abs(ahead) <= MOST_MS) return ok("agrees with the provider's");
  return warn(
    `${duration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} the provider's`,
    "Set this machine's clock (`timedatectl set-ntp true` where systemd keeps it): deadlines and waits depend on it.",
  );
}
