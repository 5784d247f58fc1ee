import type { Partial, TaskEvent } from '../domain/events.js';
import { callKey } from '../domain/ids.js';

const OUT = ':out';

/** The stream of a command's output. It belongs to a call, not to an attempt: no `retract` touches it. */
export function outputStream(call: string): string {
  return `${call}${OUT}`;
}

export function isOutput(stream: string): boolean {
  return stream.endsWith(OUT);
}

/**
 * The stream that an event is the final word on, as the log stores it. A block's text belongs to one attempt; a call
 * starts only when its attempt stands, so its events name the stream alone.
 */
export function endedStream(event: TaskEvent): string | null {
  if (event.type !== 'say') return null;
  switch (event.say) {
    case 'text':
    case 'reasoning':
      return `${callKey(event.turn, event.block)}@${event.attempt}`;
    case 'tool':
    case 'command':
      return event.call;
    case 'tool_result':
    case 'command_output':
      return outputStream(event.call);
    default:
      return null;
  }
}

/** The values of `endedStream` that end the stream of a partial. */
export function endings(partial: Pick<Partial, 'stream' | 'attempt'>): string[] {
  if (isOutput(partial.stream)) return [partial.stream];
  return [`${partial.stream}@${partial.attempt}`, partial.stream, outputStream(partial.stream)];
}
