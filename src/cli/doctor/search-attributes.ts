import { SEARCH_ATTRIBUTES } from '../../devserver/flags.js';
import { listAttributes, VALUE_TYPE } from '../../service/search-attributes.js';
import { bad, type Check, type Finding, ok, together, warn } from './row.js';

export const searchAttributesCheck: Check = {
  name: 'search attributes',
  look: async ({ server }) => {
    const look = await server();
    if (look.state !== 'reachable') return undefined;
    const { connection, namespace } = look.temporal;
    return searchAttributesFinding(await listAttributes(connection, namespace), namespace);
  },
};

/** @param known types by name, as numbers of Temporal's API; undefined where they may not be listed */
export function searchAttributesFinding(known: Record<string, number> | undefined, namespace: string): Finding {
  if (!known) return ok('may not be listed here; whoever manages the namespace knows');
  const wanted = Object.entries(SEARCH_ATTRIBUTES) as [keyof typeof SEARCH_ATTRIBUTES, 'Keyword' | 'Datetime'][];
  const missing = wanted.filter(([name]) => known[name] == null);
  const wrong = wanted.filter(([name, type]) => known[name] != null && known[name] !== VALUE_TYPE[type]);
  const faults: Finding[] = [];
  if (wrong.length > 0) {
    const names = wrong.map(([name, type]) => `${name} (${type} is needed)`).join(', ');
    faults.push(bad(`of another type: ${names}`, 'Use another namespace, or remove those attributes from this one.'));
  }
  if (missing.length > 0) {
    const flags = missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' ');
    faults.push(
      warn(
        `missing: ${missing.map(([name]) => name).join(', ')}; the first task adds them, where that is allowed`,
        `To add them yourself: \`temporal operator search-attribute create --namespace ${namespace} ${flags}\`.`,
      ),
    );
  }
  return together(faults, ok(wanted.map(([name]) => name).join(', ')));
}
