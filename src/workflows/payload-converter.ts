import { DefaultPayloadConverter, type Payload } from '@temporalio/common';

/** What takes the place of an argument that cannot be read. No handler takes it for anything. */
const UNREADABLE = Symbol('unreadable');

/**
 * Anybody can send a signal, with any bytes in it. One that is no JSON, or in an encoding that nobody knows, must not
 * fail the workflow task: that would fail again and again, and the task could never go on.
 */
class ForgivingConverter extends DefaultPayloadConverter {
  override fromPayload<T>(payload: Payload): T {
    try {
      return super.fromPayload<T>(payload);
    } catch {
      return UNREADABLE as T;
    }
  }
}

/** Of all that workflows read and write; the bundle is built with it. */
export const payloadConverter = new ForgivingConverter();
