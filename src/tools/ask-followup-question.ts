import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { choices } from './choices.js';
import { optionalList, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

const schema = z.object({
  question: words('The question, with what the person needs to know to answer it.'),
  options: optionalList(
    'Two to five short answers to choose from, as an array. The person may also write something else.',
  ),
});

export const askFollowupQuestion: Tool<typeof schema> = {
  name: 'ask_followup_question',
  description:
    'Asks the person a question and waits for the answer, maybe for days. Only for what cannot be found out with other' +
    ' tools and matters for the result.',
  schema,
  effect: 'control',

  async prepare(args, ctx) {
    return {
      approval: { need: 'none' },
      summary: oneLine(`ask_followup_question ${args.question}`, 120),
      control: {
        do: 'ask',
        question: await ctx.journal.putText(args.question),
        options: choices(args.options),
      },
    };
  },

  async run() {
    throw new ToolError('A question is asked by the task itself.', false);
  },
};
