import { shownAddress } from '../../model/profiles.js';
import type { Unreached } from '../../model/reach.js';
import type { ModelLook } from './model-look.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import { remedyFor } from './settings-look.js';

const ADDRESS_NEXT = 'Check ANTHROPIC_BASE_URL and the network.';

export const modelCheck: Check = {
  name: 'model',
  look: async ({ model }) => {
    const look = await model();
    return look && modelFinding(look);
  },
};

export function modelFinding(look: ModelLook): Finding {
  const finding = findingOf(look);
  return finding.next === undefined ? finding : { ...finding, next: remedyFor(look.settings, finding.next) };
}

function findingOf(look: ModelLook): Finding {
  const { reached, address } = look;
  const shown = shownAddress(address);
  if (reached.answered) return byStatus(reached, look, shown);
  const { text, next } = WHY[reached.why];
  const proxy =
    look.unusedProxy === undefined
      ? ''
      : ` ${look.unusedProxy} is set, but Node uses it only with NODE_USE_ENV_PROXY=1 (from 22.21 and 24.5 on).`;
  return bad(`${shown}: ${text} (${reached.detail})`, `${next}${proxy}`);
}

const WHY: Readonly<Record<Unreached, { text: string; next: string }>> = {
  name: { text: 'its name cannot be resolved', next: ADDRESS_NEXT },
  refused: { text: 'nothing listens there', next: 'Start that server, or correct ANTHROPIC_BASE_URL.' },
  secure: {
    text: 'no secure connection to it is possible',
    next: 'Check whether the address takes https; for a certificate of your own authority set NODE_EXTRA_CA_CERTS to its file.',
  },
  timeout: { text: 'it does not answer', next: ADDRESS_NEXT },
  proxy: {
    text: 'the request does not get through the proxy',
    next: 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and the user and password in them.',
  },
  other: { text: 'no connection to it lasts', next: ADDRESS_NEXT },
};

function byStatus(
  { status, json }: Extract<ModelLook['reached'], { answered: true }>,
  { withKey, address }: ModelLook,
  shown: string,
): Finding {
  if (status >= 200 && status < 300) {
    if (json) return ok(`${shown} answers${withKey ? ' and takes the key' : ''}`);
    return warn(`${shown} answers with something other than an API`, ADDRESS_NEXT);
  }
  switch (status) {
    case 401:
    case 403:
      return withKey
        ? bad(`${shown} refuses the key (${status})`, 'Set ANTHROPIC_API_KEY to a key that is valid there.')
        : bad(`${shown} wants a key (${status})`, 'Set ANTHROPIC_API_KEY.');
    case 402:
      return bad(
        `${shown} wants to be paid first (402)`,
        'Look at the balance and the billing settings of the account.',
      );
    case 404:
    case 405:
    case 501:
      if (new URL(address).pathname.replace(/\/$/, '').endsWith('/v1'))
        return warn(
          `${shown} answers, but not where it is asked (${status})`,
          'Take the /v1 off ANTHROPIC_BASE_URL: requests add it.',
        );
      return ok(`${shown} answers; it has no list of models (${status})`);
    case 429:
    case 529:
      return warn(`${shown} is reached, and has too much to do (${status})`, 'Tasks wait and try again by themselves.');
  }
  if (status >= 300 && status < 400)
    return bad(
      `${shown} leads elsewhere (${status}), which requests do not follow`,
      'Set ANTHROPIC_BASE_URL to the final address.',
    );
  if (status >= 500)
    return warn(`${shown} is reached, and fails (${status})`, 'Tasks try again by themselves; try later.');
  return warn(`${shown} is reached, and does not take the question (${status})`, ADDRESS_NEXT);
}
