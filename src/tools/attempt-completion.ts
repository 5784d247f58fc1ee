import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { visible } from '../workspace/visible.js';
import { commandApproval } from './command-approval.js';
import { commandTimeout } from './command-timeout.js';
import { runShellCommand } from './execute-command.js';
import { optionalWords, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

const schema = z.object({
  result: words('What was done, for the person who gave the task. Final: no question, no offer at its end.'),
  command: optionalWords(
    'A command that shows the result, such as one that opens a page. Not one that only prints text.',
  ),
});

export const attemptCompletion: Tool<typeof schema> = {
  name: 'attempt_completion',
  description:
    'Ends the task with its result. Call it alone, when the work is done and the results of earlier calls have shown so.',
  schema,
  aliases: { response: 'result' },
  effect: 'control',

  async prepare({ result, command }, ctx) {
    const text = await ctx.journal.putText(result);
    if (command === undefined) {
      const summary = oneLine(`attempt_completion ${result}`, 120);
      return { approval: { need: 'none' }, summary, control: { do: 'complete', result: text } };
    }
    return {
      ...(await commandApproval(command, ctx, false)),
      summary: oneLine(`attempt_completion ${command}`, 120),
      preview: visible(command),
      control: { do: 'complete', result: text, command: true },
    };
  },

  /** Runs the command; ending the task is the workflow's part. */
  async run({ command }, ctx) {
    if (command === undefined) throw new ToolError('There is no command to run.', false);
    return runShellCommand(ctx, command, { timeoutMs: commandTimeout(command, undefined, ctx.policy.yolo) });
  },
};
