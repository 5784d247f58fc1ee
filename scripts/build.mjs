import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { buildStamp, inputsHash, root } from './inputs.mjs';

const dist = join(root, 'dist');
const next = join(root, '.dist-next');
const bin = join(root, 'bin', 'longhaul.js');

const hash = inputsHash();
compile();
keepPublicTypes();
await bundleWorkflows();
writeIdentity();
if (existsSync(bin)) chmodSync(bin, 0o755);
// last, so that an interrupted build is done again
writeFileSync(buildStamp, hash);

/** Compiles beside dist and then takes its place: a compile that fails leaves the former dist. */
function compile() {
  rmSync(next, { recursive: true, force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.json', '--outDir', next], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    rmSync(next, { recursive: true, force: true });
    process.exit(status ?? 1);
  }
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** Removes the declarations that no entry point of the package leads to. */
function keepPublicTypes() {
  const found = new Set();
  const visit = (path) => {
    if (found.has(path)) return;
    found.add(path);
    const specifiers = readFileSync(path, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.js['"]/g);
    for (const [, specifier] of specifiers) visit(resolve(dirname(path), `${specifier}.d.ts`));
  };
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const entry of Object.values(exports)) if (entry.types) visit(join(root, entry.types));
  for (const name of readdirSync(dist, { recursive: true })) {
    const path = join(dist, name);
    if (name.endsWith('.d.ts') && !found.has(path)) rmSync(path);
  }
}

/** One file with all workflow code; workers load it and need no sources and no bundler. */
async function bundleWorkflows() {
  const said = [];
  const logger = new DefaultLogger('INFO', ({ message }) => said.push(message));
  const workflowsPath = join(dist, 'workflows', 'index.js');
  const payloadConverterPath = join(dist, 'workflows', 'payload-converter.js');
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      payloadConverterPath,
      logger,
      webpackConfigHook: withoutThisFolder,
    });
    writeFileSync(join(dist, 'workflow-bundle.js'), code);
  } catch (err) {
    console.error(said.join('\n'));
    console.error(err instanceof Error ? err.message : err);
    process.exit(1);
  }
}

/** Its source map, and so the stacks of workflow failures, name files as they lie in the package, wherever it was built. */
function withoutThisFolder(config) {
  const devtoolModuleFilenameTemplate = ({ absoluteResourcePath }) =>
    relative(root, absoluteResourcePath).split(sep).join('/');
  return {
    ...config,
    context: root,
    devtool: 'inline-nosources-source-map',
    output: { ...config.output, devtoolModuleFilenameTemplate },
  };
}

/** Tells this build from others of the same version: a service and its callers compare it. */
function writeIdentity() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const files = readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'));
  const hash = createHash('sha256');
  for (const file of files.sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(dist, file)))
      .update('\0');
  const build = hash.digest('hex').slice(0, 12);
  writeFileSync(join(dist, 'build.json'), `${JSON.stringify({ version, build })}\n`);
}
