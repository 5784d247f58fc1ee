import { bad, type Check, type Finding, ok } from './row.js';
import type { ServerLook } from './temporal-look.js';

/** gRPC codes: what was named is not there; no access. */
const NOT_FOUND = 5;
const NO_ACCESS = [7, 16];

export const temporalServerCheck: Check = {
  name: 'Temporal server',
  look: async ({ server }) => temporalServerFinding(await server()),
};

export function temporalServerFinding(look: ServerLook): Finding {
  switch (look.state) {
    case 'misnamed':
      return bad(look.problem.message, look.problem.next ?? 'Correct the TEMPORAL_* variables or the profile file.');
    case 'down':
      return ok('not running; the service brings it');
    case 'reachable': {
      const { address, namespace, embedded } = look.target;
      return ok(`${address}, namespace ${namespace} (${embedded ? 'of the service' : 'named by the environment'})`);
    }
    case 'unreachable':
      return unreachable(look);
  }
}

function unreachable({ target, why, code }: Extract<ServerLook, { state: 'unreachable' }>): Finding {
  const { address, namespace, embedded } = target;
  if (embedded) {
    const next = 'Stop the service with `longhaul down` and start it with `longhaul up`; logs/temporal.log says more.';
    return bad(`${address} of the running service cannot be reached: ${why}`, next);
  }
  if (code === NOT_FOUND) {
    const create = `\`temporal operator namespace create --namespace ${namespace} --address ${address}\``;
    return bad(
      `${address} answers, but has no namespace ${namespace}`,
      `Set TEMPORAL_NAMESPACE to one that it has, or make it: ${create}.`,
    );
  }
  if (code !== undefined && NO_ACCESS.includes(code))
    return bad(`${address} refuses access: ${why}`, 'Check TEMPORAL_API_KEY and the TEMPORAL_TLS_* settings.');
  return bad(
    `${address} cannot be reached: ${why}`,
    'Start that server, or correct TEMPORAL_ADDRESS (or the profile file); without it, the service of this machine is used.',
  );
}
