import { journal1 } from './journal-1.js';
import { journal2 } from './journal-2.js';
import { journal3 } from './journal-3.js';
import { journal4 } from './journal-4.js';
import type { Migration } from './migration.js';
import { partials1 } from './partials-1.js';

export const JOURNAL_MIGRATIONS: readonly Migration[] = [journal1, journal2, journal3, journal4];
export const PARTIALS_MIGRATIONS: readonly Migration[] = [partials1];
