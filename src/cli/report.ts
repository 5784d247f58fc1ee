import { isAbsolute, join, relative } from 'node:path';
import { errorPage, LonghaulError, messageOf } from '../domain/errors.js';
import { EXIT } from '../domain/outcomes.js';
import { packageRoot } from '../service/package.js';
import { nextOf } from './called-as.js';
import { wrap } from './flow.js';
import { type Io, painter, printJson, printNote, wantsColour } from './io.js';
import { neutralise } from './neutral.js';
import { pad } from './text.js';

const LABEL = 'error: '.length;

/** Prints an error for people on stderr and, with `json`, as a line on stdout too. @returns the exit code */
export function reportError(io: Io, err: unknown, json: boolean): number {
  const known = LonghaulError.is(err) ? err : unexpected(err);
  const page = errorPage(known.slug);
  const { slug, message, kept } = known;
  const next = nextOf(known, io.command);
  if (json) printJson(io, { type: 'error', slug, message, kept: kept ?? null, next: next ?? null, page });
  const paint = painter(wantsColour(io.env, io.stderr.isTTY === true));
  printNote(io, hanging(io, paint('red', 'error:'), message));
  if (kept) printNote(io, hanging(io, paint('bold', 'kept:'), kept));
  if (next) printNote(io, hanging(io, paint('bold', 'next:'), next));
  printNote(io, hanging(io, paint('bold', 'page:'), pagePath(io.cwd, page)));
  if (io.env.LONGHAUL_DEBUG && err instanceof Error && err.stack) printNote(io, neutralise(err.stack));
  return exitCodeOfError(known);
}

/** Relative only inside the folder it is read in, so that it can be opened after a change of folder. */
function pagePath(here: string, page: string): string {
  const path = join(packageRoot, page);
  const near = relative(here, path);
  return near.startsWith('..') || isAbsolute(near) ? path : near;
}

/** A text behind its label; wrapped at a terminal. */
function hanging(io: Io, label: string, text: string): string {
  const { isTTY, columns = 80 } = io.stderr;
  const width = isTTY ? Math.max(40, columns) : Number.POSITIVE_INFINITY;
  return wrap(`${pad(label, LABEL)}${neutralise(text)}`, width, ' '.repeat(isTTY ? LABEL : 0));
}

function exitCodeOfError(err: LonghaulError): number {
  switch (err.slug) {
    case 'bad-flag':
    case 'bad-answer':
    case 'bad-attachment':
    case 'prompt-empty':
      return EXIT.usage;
    case 'temporal-unreachable':
      return EXIT.no_temporal;
    default:
      return EXIT.failed;
  }
}

function unexpected(err: unknown): LonghaulError {
  const message = messageOf(err);
  return new LonghaulError('internal', `Something unexpected went wrong: ${message}`, {
    kept: 'Running tasks are not touched by this; they go on in the service.',
    next: 'Set LONGHAUL_DEBUG=1 and try again to see where it happened.',
    cause: err,
  });
}
