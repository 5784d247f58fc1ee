// Set-up on Node's built-ins: this file runs before anything is installed, and on Node versions too old for the rest.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 20 || (major === 20 && minor < 3)) {
  console.error(`error: Longhaul needs Node 20.3 or later; this is ${process.versions.node}.`);
  console.error('next:  Install a current Node from https://nodejs.org and try again.');
  console.error('page:  docs/errors/node-version.md');
  process.exitCode = 1;
} else {
  import('./commands.mjs').then(({ main }) => main(process.argv.slice(2)));
}
