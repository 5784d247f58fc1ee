import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

const schema = z.object({
  response: words('What you have found and what you do next, in a few sentences.'),
});

export const actModeRespond: Tool<typeof schema> = {
  name: 'act_mode_respond',
  description:
    'In act mode: tells the person how the work goes, without waiting for an answer. Not twice in a row: the next call' +
    ' does what was said.',
  schema,
  effect: 'control',

  async prepare(args, ctx) {
    return {
      approval: { need: 'none' },
      summary: oneLine(`act_mode_respond ${args.response}`, 120),
      control: { do: 'act_respond', response: await ctx.journal.putText(args.response) },
    };
  },

  async run() {
    throw new ToolError('A word on the work is said by the task itself.', false);
  },
};
