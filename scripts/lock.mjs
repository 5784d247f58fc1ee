import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from './inputs.mjs';

const LOCK = join(root, '.setup-lock');
const HANDOVER = `${LOCK}.takeover`;

/**
 * Runs `work` while no other process sets up this checkout. The lock file names its holder by pid and start time,
 * so a lock whose holder was killed is taken over; `onWait` is called once when there is one to wait for.
 */
export async function withSetupLock(work, onWait) {
  const self = identity(process.pid);
  for (let told = false; !create(LOCK, self); await sleep(200)) {
    const holder = readHolder(LOCK);
    if (holder && !isAlive(holder)) await takeOver();
    else if (holder && !told) {
      told = true;
      onWait(holder.pid);
    }
  }
  const release = () => rmSync(LOCK, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

/** Notes in the lock the process that does the work, so that it is ended when its set-up is killed. */
export function noteWorkProcess(pid) {
  const temp = `${LOCK}.${process.pid}`;
  writeFileSync(temp, JSON.stringify({ ...identity(process.pid), work: identity(pid) }));
  renameSync(temp, LOCK);
}

/** Removes a dead holder's lock; under a lock of its own, so that nobody removes a lock that has just been taken. */
async function takeOver() {
  if (!create(HANDOVER, identity(process.pid))) {
    const other = readHolder(HANDOVER);
    if (other && !isAlive(other)) rmSync(HANDOVER, { force: true });
    return;
  }
  try {
    const holder = readHolder(LOCK);
    if (!holder || isAlive(holder)) return;
    if (holder.work && isAlive(holder.work)) await end(holder.work);
    rmSync(LOCK, { force: true });
  } finally {
    rmSync(HANDOVER, { force: true });
  }
}

/** Creates a lock file at once and whole; false when it is there already. */
function create(path, holder) {
  const temp = `${path}.${process.pid}`;
  writeFileSync(temp, JSON.stringify(holder));
  try {
    linkSync(temp, path);
    return true;
  } catch (err) {
    if (err.code === 'EEXIST') return false;
    if (err.code !== 'EPERM' && err.code !== 'ENOTSUP' && err.code !== 'ENOSYS') throw err;
    return createExclusive(path, holder);
  } finally {
    rmSync(temp, { force: true });
  }
}

/** For file systems without hard links. */
function createExclusive(path, holder) {
  try {
    writeFileSync(path, JSON.stringify(holder), { flag: 'wx' });
    return true;
  } catch (err) {
    if (err.code === 'EEXIST') return false;
    throw err;
  }
}

/** Ends the work of a killed set-up: two at once in one folder would destroy each other. */
async function end(work) {
  try {
    process.kill(work.pid, 'SIGKILL');
  } catch {
    // it has just ended
  }
  while (isAlive(work)) await sleep(50);
}

function readHolder(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

const identity = (pid) => ({ pid, start: startOf(pid) });

const isAlive = (holder) => startOf(holder.pid) === holder.start;

/** What tells this life of a pid from an earlier one; null when there is no such process. */
function startOf(pid) {
  try {
    if (process.platform === 'linux') {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? null : `${boot}:${fields[19]}`;
    }
    process.kill(pid, 0);
    if (process.platform === 'win32') return 'alive';
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch (err) {
    return err.code === 'EPERM' ? 'alive' : null;
  }
}
