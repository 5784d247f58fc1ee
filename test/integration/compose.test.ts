import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { RETENTION_HOURS, serverFlags } from '../../src/devserver/flags.js';
import { ROOT } from '../support/world.js';

interface Service {
  image: string;
  build?: { context: string; args: Record<string, string> };
  restart: string;
  environment?: Record<string, string | number | null>;
  ports?: string[];
  volumes?: (string | { type: string; source: string; target: string })[];
  networks?: string[];
  healthcheck?: object;
  depends_on?: Record<string, { condition: string }>;
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, object | null>;
  volumes: Record<string, object | null>;
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const composeText = read('docker-compose.yml');
const compose = parse(composeText) as Compose;
const services = Object.entries(compose.services);
const worker = compose.services.worker!;
const dockerfile = read('Dockerfile').replaceAll(/\\\n/g, ' ').split('\n');

/** What follows an instruction of the Dockerfile, one entry for each time. */
const instructions = (name: string): string[] =>
  dockerfile.flatMap((line) => (line.startsWith(`${name} `) ? [line.slice(name.length + 1).trim()] : []));

/** Names that the Compose file takes from .env or the shell. */
function takenFromOutside(): string[] {
  const interpolated = [...composeText.matchAll(/\$\{(\w+)/g)].map(([, name]) => name!);
  const passed = services.flatMap(([, { environment = {} }]) =>
    Object.entries(environment).flatMap(([name, value]) => (value === null ? [name] : [])),
  );
  return [...new Set([...interpolated, ...passed])].filter((name) => name !== 'COMPOSE_PROJECT_NAME').sort();
}

const settings = read('.env.example')
  .split('\n')
  .flatMap((line) => {
    const [, name, value] = /^#?([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, value: value! }];
  });

const SECRET = /PASSWORD|PWD|KEY|TOKEN|SECRET/;

test('every image has a tag that names a version', () => {
  const stages = instructions('FROM').flatMap((from) => /\sAS (\w+)$/.exec(from)?.[1] ?? []);
  const bases = instructions('FROM').map((from) => from.split(' ')[0]!);
  const images = [...services.map(([, { image }]) => image), ...bases.filter((base) => !stages.includes(base))];
  expect(images.length).toBeGreaterThan(services.length);
  for (const image of images) expect(image).toMatch(/^[a-z/-]+:\d+\.\d+[\w.-]*$/);
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(worker.image).toBe(`longhaul:${version}`);
  const temporal = compose.services.temporal!.image.split(':')[1];
  for (const job of ['schema', 'namespace']) expect(compose.services[job]!.image.split(':')[1]).toBe(temporal);
});

test('what is published is published on this machine only, and links lead there', () => {
  const published = services.flatMap(([, { ports = [] }]) => ports);
  expect(published).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+:\d+$/)]);
  expect(worker.environment?.LONGHAUL_UI_URL).toBe(`http://localhost:${published[0]!.split(':')[1]}`);
  expect(compose.services.temporal!.environment).toMatchObject({ FRONTEND_HTTP_PORT: 0 });
});

test('no secret has a value, and .env.example names what comes from outside', () => {
  for (const [name, value] of services.flatMap(([, { environment = {} }]) => Object.entries(environment))) {
    if (SECRET.test(name)) expect(value ?? '${').toContain('${');
  }
  expect(settings.map(({ name }) => name).sort()).toEqual(takenFromOutside());
  for (const { name, value } of settings) if (SECRET.test(name)) expect(value).toBe('');
  for (const file of ['.gitignore', '.dockerignore']) expect(read(file)).toMatch(/^(\.env|\*)$/m);
});

test('the worker is given documented settings, and folders that the image has', () => {
  const documented = read('docs/environment.md');
  for (const name of Object.keys(worker.environment ?? {})) expect(documented).toContain(`\`${name}\``);
  const [, home] = /LONGHAUL_HOME=(\S+)/.exec(instructions('ENV').join(' ')) ?? [];
  expect(worker.environment?.LONGHAUL_HOME).toBe(home);
  const targets = worker.volumes?.map((volume) => (typeof volume === 'string' ? volume.split(':')[1] : volume.target));
  expect(targets).toEqual([home, instructions('WORKDIR').at(-1)]);
  for (const target of targets!) expect(instructions('RUN').join(' ')).toMatch(new RegExp(`install .*${target}\\b`));
  const args = instructions('ARG').map((arg) => arg.split('=')[0]);
  expect(Object.keys(worker.build!.args)).toEqual(args);
});

test('what is mounted exists, and every name refers to something', () => {
  for (const [, { volumes = [], networks = [], depends_on = {} }] of services) {
    for (const source of volumes.map((one) => (typeof one === 'string' ? one.split(':')[0]! : one.source))) {
      if (source.startsWith('./')) expect(existsSync(join(ROOT, source)), source).toBe(true);
      else if (!source.startsWith('${')) expect(compose.volumes).toHaveProperty(source);
    }
    for (const network of networks) if (network !== 'default') expect(compose.networks).toHaveProperty(network);
    for (const [name, { condition }] of Object.entries(depends_on)) {
      const { healthcheck, restart } = compose.services[name]!;
      if (condition === 'service_healthy') expect(healthcheck).toBeDefined();
      else
        expect([condition, restart]).toEqual(['service_completed_successfully', expect.stringMatching(/^on-failure/)]);
    }
  }
});

test('the image is built from files that exist and that the build gets', () => {
  const sent = read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  const copied = instructions('COPY').filter((copy) => !copy.startsWith('--from'));
  const named = copied.flatMap((copy) => copy.split(/\s+/).slice(0, -1)).filter((source) => source !== '.');
  const { files } = JSON.parse(read('package.json')) as { files: string[] };
  const packed = files.filter((file) => file !== 'dist');
  for (const file of [...named, ...packed, ...sent]) expect(existsSync(join(ROOT, file)), file).toBe(true);
  expect(sent).toEqual(expect.arrayContaining([...named, ...packed, 'LICENSE', 'README.md', 'scripts', 'src']));
});

test('the cluster is set up like the local server', () => {
  const flags = serverFlags(
    'file',
    { grpc: 1, http: 2, metrics: 3, gate: 4 } as Parameters<typeof serverFlags>[1],
    'x',
  );
  const local = flags.filter((_flag, at) => flags[at - 1] === '--dynamic-config-value');
  const dynamic = parse(read('docker/temporal.yaml')) as Record<string, { value: unknown }[]>;
  const cluster = Object.entries(dynamic).map(([name, [entry]]) => `${name}=${JSON.stringify(entry?.value)}`);
  // the HTTP API is off altogether there
  expect(cluster.sort()).toEqual(local.filter((value) => !value.startsWith('frontend.httpAllowedHosts')).sort());
  expect(read('docker/namespace.sh')).toContain(`--retention ${RETENTION_HOURS / 24}d`);
});
