import { constants } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { bad, type Check, type Finding, ok, together, warn } from './row.js';

export const homeCheck: Check = {
  name: 'home',
  look: ({ home }) => homeFinding(home, process.getuid?.()),
};

/** @param uid of the caller; undefined where users have none */
export async function homeFinding(home: string, uid: number | undefined): Promise<Finding> {
  const info = await stat(home).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT' || err.code === 'ENOTDIR') return undefined;
    throw err;
  });
  const folder = info ? home : await existingParent(home);
  const faults: Finding[] = [];
  if (info && !info.isDirectory())
    return bad(`${home} is not a folder`, 'Move it away, or set LONGHAUL_HOME to a folder.');
  if (!(await canWrite(folder))) {
    const what = info ? `${home} cannot be written` : `${home} cannot be made in ${folder}`;
    faults.push(bad(what, 'Correct the permissions or the mount, or set LONGHAUL_HOME to another folder.'));
  }
  if (info && uid !== undefined && info.uid !== uid)
    faults.push(
      warn(`${home} belongs to another user (uid ${info.uid})`, `Call Longhaul as its owner, or \`chown\` it.`),
    );
  if (info && process.platform !== 'win32' && (info.mode & 0o077) !== 0)
    faults.push(warn(`${home} can be entered by others (mode ${octal(info.mode)})`, `Run \`chmod 700 '${home}'\`.`));
  const network = await networkFileSystem(folder);
  if (network !== undefined)
    faults.push(
      warn(
        `${folder} is on a network file system (${network}), where SQLite databases can be damaged`,
        'Set LONGHAUL_HOME to a folder on a local disk.',
      ),
    );
  return together(faults, ok(info ? home : `${home} (made by the first command that needs it)`));
}

/** The nearest folder above a path that exists. */
export async function existingParent(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const info = await stat(folder).catch(() => undefined);
    if (info || dirname(folder) === folder) return folder;
  }
}

async function canWrite(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return (await stat(folder)).isDirectory();
  } catch {
    return false;
  }
}

async function networkFileSystem(folder: string): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const { type } = await statfs(folder);
  return networkType(type, () => mountType(folder));
}

const FUSE = 0x65735546;

/** `f_type` of statfs(2) on Linux, from linux/magic.h and the file systems' own sources. */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9P',
  1397113167: 'AFS',
  12805120: 'Ceph',
  198183888: 'Lustre',
};

/** Many of FUSE's are local; of those only the type of the mount tells. */
const NETWORK_FUSE = /^fuse\.(sshfs|s3fs|gcsfuse|rclone|glusterfs|davfs|curlftpfs|goofys|cephfs)/;

/**
 * Name of a network file system, or undefined for a local one.
 * @param type as statfs(2) gives it @param mount gives the type of the mount, such as `fuse.sshfs`
 */
export async function networkType(type: number, mount: () => Promise<string>): Promise<string | undefined> {
  // 32 bits that some platforms give with a sign
  const magic = type >>> 0;
  if (magic !== FUSE) return NETWORK[magic];
  const name = await mount();
  return NETWORK_FUSE.test(name) ? name : undefined;
}

/** Type of the mount that a folder is on: the longest mount point above it. */
async function mountType(folder: string): Promise<string> {
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  let best = { point: '', type: '' };
  for (const line of table.split('\n')) {
    // proc(5): fields, of which the fifth is the mount point, then " - ", the type and more
    const [left = '', right = ''] = line.split(' - ');
    const point = left.split(' ')[4]?.replaceAll('\\040', ' ') ?? '';
    const above = folder === point || folder.startsWith(point.endsWith('/') ? point : `${point}/`);
    if (point !== '' && above && point.length >= best.point.length) best = { point, type: right.split(' ')[0] ?? '' };
  }
  return best.type;
}

const octal = (mode: number): string => (mode & 0o777).toString(8);
