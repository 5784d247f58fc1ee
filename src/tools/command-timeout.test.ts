import { expect, test } from 'vitest';
import {
  ATTENDED_COMMAND_MS,
  commandTimeout,
  isLongCommand,
  LONG_COMMAND_MS,
  UNATTENDED_COMMAND_MS,
} from './command-timeout.js';

test.each([
  'npm ci',
  'npm test',
  'cd web && npm run build',
  'CI=1 npx vitest run',
  'python3 -m pytest -q',
  'pip install -r requirements.txt',
  'cargo build --release',
  'go test ./...',
  './gradlew build',
  'make',
  'time make -j4',
  'docker build .',
  'python train.py --epochs 3',
  'ffmpeg -i a b',
  'node --test',
])('%s may take long', (command) => {
  expect(isLongCommand(command)).toBe(true);
});

test.each([
  'ls',
  'echo npm test',
  'cat Makefile',
  'git status',
  'node a.js',
  'grep -r cargo .',
  'remake x',
  'npm view x',
])('%s is short', (command) => {
  expect(isLongCommand(command)).toBe(false);
});

test('the limit asked for counts; else it depends on who watches', () => {
  expect(commandTimeout('ls', 7, true)).toBe(7000);
  expect(commandTimeout('npm test', 0.5, false)).toBe(500);
  expect(commandTimeout('npm test', undefined, true)).toBe(LONG_COMMAND_MS);
  expect(commandTimeout('ls', undefined, true)).toBe(UNATTENDED_COMMAND_MS);
  expect(commandTimeout('ls', undefined, false)).toBe(ATTENDED_COMMAND_MS);
});
