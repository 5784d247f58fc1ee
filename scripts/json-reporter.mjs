import { writeFile } from 'node:fs/promises';
import { JsonReporter } from 'vitest/node';

/** vitest's JSON report in a file of our own, without the line that names it: the file does not outlive the run. */
export default class extends JsonReporter {
  async writeReport(report) {
    await writeFile(this.ctx.config.outputFile.json, report);
  }
}
