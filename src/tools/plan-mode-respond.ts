import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { choices } from './choices.js';
import { optionalFlag, optionalList, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

const schema = z.object({
  response: words('The plan, or what there is to say on it, in Markdown.'),
  options: optionalList(
    'Two to five short answers to choose from, as an array, where the plan leaves a choice. Switching to act mode is none of them.',
  ),
  needs_more_exploration: optionalFlag('true when more has to be found out first: nobody is asked then.'),
});

export const planModeRespond: Tool<typeof schema> = {
  name: 'plan_mode_respond',
  description:
    'In plan mode: shows the plan to the person and waits for what they say to it, or for the switch to act mode, which' +
    ' is theirs to make. Explore first; call it when there is a plan or a question about it.',
  schema,
  effect: 'control',

  async prepare(args, ctx) {
    return {
      approval: { need: 'none' },
      summary: oneLine(`plan_mode_respond ${args.response}`, 120),
      control: {
        do: 'plan_respond',
        response: await ctx.journal.putText(args.response),
        options: choices(args.options),
        explore: args.needs_more_exploration ?? false,
      },
    };
  },

  async run() {
    throw new ToolError('A plan is shown by the task itself.', false);
  },
};
