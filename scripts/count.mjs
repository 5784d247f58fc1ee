import { readFileSync } from 'node:fs';

/**
 * Counts of a test run from vitest's JSON report. A file that could not be run counts as one failed test; so does a
 * run that ended badly for another reason, or without a report.
 */
export function countTests(reportFile, exitCode) {
  let passed = 0;
  let failed = 0;
  try {
    const report = JSON.parse(readFileSync(reportFile, 'utf8'));
    passed = report.numPassedTests;
    failed = report.numFailedTests;
    for (const file of report.testResults) {
      if (file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')) failed++;
    }
  } catch {
    // no report: counted below
  }
  return { passed, failed: exitCode !== 0 && failed === 0 ? 1 : failed };
}
