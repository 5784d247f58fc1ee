import { PROVIDER_ADDRESS, shownAddress } from '../../model/profiles.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import { remedyFor, type SettingsLook, unsendable } from './settings-look.js';

export const keysCheck: Check = {
  name: 'keys',
  look: async ({ settings }) => keysFinding(await settings()),
};

export function keysFinding(look: SettingsLook): Finding {
  switch (look.from) {
    case 'missing':
      return bad(look.problem.message.replace(/\.$/, ''), look.problem.next ?? 'Correct it.');
    case 'workers':
      return ok('not set here; tasks use those of the workers');
    case 'nowhere':
      return warn(
        'not set',
        'Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own, or save a profile: `longhaul profile save default`. `longhaul demo` needs no key.',
      );
    case 'shell':
    case 'variable':
    case 'settings':
    case 'default':
      return settingsFinding(look);
  }
}

function settingsFinding(look: Exclude<SettingsLook, { name: null } | { from: 'workers' }>): Finding {
  const { profile, from, name } = look;
  const { baseURL, apiKey, authToken } = profile;
  const problem = unsendable(profile);
  const namedBy = { variable: ' (LONGHAUL_PROFILE)', settings: ' (settings.json)', default: '', shell: '' }[from];
  const saved = from === 'shell' ? '' : `profile "${name}"${namedBy}: `;
  if (problem) {
    const message = problem.message.replace(/\.$/, '');
    // what stands there instead of an address may be a key
    const found = baseURL === undefined ? message : message.replaceAll(baseURL, '(not shown)');
    const next = saved ? 'Set the right ANTHROPIC_* in this shell.' : (problem.next ?? 'Correct it.');
    return bad(`${saved}${found}`, remedyFor(look, next));
  }
  const set = [
    ...(apiKey === undefined ? [] : [saved ? 'a key' : 'ANTHROPIC_API_KEY is set']),
    ...(authToken === undefined ? [] : [saved ? 'a token' : 'ANTHROPIC_AUTH_TOKEN is set']),
  ];
  const address = `for ${shownAddress(baseURL ?? PROVIDER_ADDRESS)}`;
  if (set.length > 0) return ok(`${saved}${set.join(', ')}, ${address}`);
  return ok(`${saved}${saved ? 'none' : 'not set'}, ${address}: a server of your own may need none`);
}
