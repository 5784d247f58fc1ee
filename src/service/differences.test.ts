import { delimiter } from 'node:path';
import { describe, expect, test } from 'vitest';
import { serviceDifferences, serviceNotes } from './differences.js';
import { environmentDifferences, recordEnvironment } from './environment.js';
import type { PackageIdentity } from './package.js';
import type { ServiceState } from './service.js';
import { compareVersions, serviceAge } from './versions.js';

const OWN: PackageIdentity = { version: '1.2.0', build: 'aaaaaaaaaaaa', root: '/opt/longhaul/' };

const stateOf = (more: Partial<ServiceState> = {}, env: NodeJS.ProcessEnv = {}): ServiceState => ({
  pid: 1,
  processStart: '1',
  address: '127.0.0.1:1',
  namespace: 'default',
  ui: 'http://127.0.0.1:2',
  ...OWN,
  started: 0,
  temporalPid: 2,
  workerPid: 3,
  environment: recordEnvironment(env),
  ...more,
});

test('versions are in order', () => {
  const inOrder = [
    '0.9.9',
    '0.10.0-alpha.2',
    '0.10.0-alpha.10',
    '0.10.0-beta',
    '0.10.0',
    '0.10.1',
    '1.0.0-rc.1',
    '1.0.0',
  ];
  for (const [n, version] of inOrder.entries()) {
    expect(compareVersions(version, `${version}+build.7`)).toBe(0);
    for (const later of inOrder.slice(n + 1)) {
      expect([version, later, Math.sign(compareVersions(version, later))]).toEqual([version, later, -1]);
      expect(compareVersions(later, version)).toBeGreaterThan(0);
    }
  }
});

test('the version decides before the build', () => {
  expect(serviceAge(OWN, OWN)).toBe('same');
  expect(serviceAge({ ...OWN, build: 'b' }, OWN)).toBe('rebuilt');
  expect(serviceAge({ version: '1.1.9', build: 'b' }, OWN)).toBe('older');
  expect(serviceAge({ version: '1.10.0', build: OWN.build }, OWN)).toBe('newer');
});

describe('the environment', () => {
  const env = { PATH: ['/a', '/b'].join(delimiter), https_proxy: 'http://u:secret@proxy:1', OTHER: 'x' };

  test('is kept without a value, and equal to itself only under the same salt', () => {
    const record = recordEnvironment(env);
    expect(Object.keys(record.hashes).sort()).toEqual(['PATH', 'https_proxy']);
    expect(JSON.stringify(record)).not.toMatch(/secret|proxy:1|\/a/);
    expect(recordEnvironment(env).hashes).not.toEqual(record.hashes);
    expect(environmentDifferences(record, env)).toEqual([]);
  });

  test.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['another value', { ...env, https_proxy: 'http://other' }, ['https_proxy']],
    ['missing here', { PATH: env.PATH }, ['https_proxy']],
    ['an empty value is none', { ...env, https_proxy: ' ' }, ['https_proxy']],
    ['missing there', { ...env, LONGHAUL_IDLE_MINUTES: '5' }, ['LONGHAUL_IDLE_MINUTES']],
    ['another order of folders', { ...env, PATH: ['/b', '/a'].join(delimiter) }, ['PATH']],
    ['the same folder twice', { ...env, PATH: ['/a', '/b', '/a', ''].join(delimiter) }, []],
    ['a script of npm', { ...env, PATH: ['/x/node_modules/.bin', '/a', '/b'].join(delimiter) }, []],
    ['what tasks do not depend on', { ...env, OTHER: 'y', ANTHROPIC_API_KEY: 'k' }, []],
  ])('differs by name: %s', (_what, other, names) => {
    expect(environmentDifferences(recordEnvironment(env), other)).toEqual(names);
  });

  test('who names no Temporal executable takes the one that the service has', () => {
    const record = recordEnvironment({ ...env, LONGHAUL_TEMPORAL_CLI: '/bin/temporal' });
    expect(environmentDifferences(record, env)).toEqual([]);
    expect(environmentDifferences(record, { ...env, LONGHAUL_TEMPORAL_CLI: '/bin/../bin/temporal' })).toEqual([]);
    const other = { ...env, LONGHAUL_TEMPORAL_CLI: '/opt/temporal' };
    expect(environmentDifferences(record, other)).toEqual(['LONGHAUL_TEMPORAL_CLI']);
  });
});

test('nothing is said of a service like its caller; else a line for each thing', () => {
  expect(serviceNotes(stateOf(), OWN, {})).toEqual([]);
  const trouble = {
    at: Date.now(),
    times: 3,
    message: 'The worker ended at its start (exit code 3). The end of its log:\nx',
  };
  const { workerPid: _, ...other } = stateOf({ version: '1.1.0', workerTrouble: trouble }, { PATH: '/a' });
  expect(serviceDifferences(other, OWN, { PATH: '/b' })).toEqual({
    age: 'older',
    variables: ['PATH'],
    worker: trouble,
  });
  const notes = serviceNotes(other, OWN, { PATH: '/b' });
  expect(notes).toHaveLength(3);
  for (const note of notes) expect(note).not.toContain('\n');
  expect(notes[2]).toContain('(The worker ended at its start (exit code 3).)');
});

test('a worker that came back once, or has lasted since, is not failing', () => {
  const once = { at: Date.now(), times: 1, message: 'x' };
  expect(serviceDifferences(stateOf({ workerTrouble: once }), OWN, {})).not.toHaveProperty('worker');
  const long = { at: Date.now() - 60_000, times: 7, message: 'x' };
  expect(serviceDifferences(stateOf({ workerTrouble: long }), OWN, {})).not.toHaveProperty('worker');
  const recent = { ...long, at: Date.now() - 5_000 };
  expect(serviceDifferences(stateOf({ workerTrouble: recent }), OWN, {})).toHaveProperty('worker', recent);
});
