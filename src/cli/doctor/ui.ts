import { type Check, type Finding, ok, warn } from './row.js';
import type { ServerLook } from './temporal-look.js';
import { reason } from './words.js';

/** ms that the UI gets to answer; below the limit of a row. */
const ANSWER_MS = 4_000;

export const uiCheck: Check = {
  name: "Temporal's UI",
  look: async ({ server }) => uiFinding(await server()),
};

/** Of the service only: one that is named may want a browser that has signed in. */
export async function uiFinding(look: ServerLook): Promise<Finding | undefined> {
  if (look.state !== 'reachable' || !look.target.embedded || look.target.ui === undefined) return undefined;
  const { ui } = look.target;
  const why = await fetch(ui, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) }).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.status < 400 ? undefined : `it answers with status ${answer.status}`;
    },
    (err) => reason(err instanceof Error && err.cause !== undefined ? err.cause : err),
  );
  if (why === undefined) return ok(`${ui}, for browsers of this machine`);
  return warn(
    `${ui} cannot be used: ${why}`,
    'Tasks do without it. To have it: `longhaul down`, then `longhaul up` (open tasks go on); logs/service.log says more.',
  );
}
