import { type ConnectionOptions, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

/**
 * The client's own retries, whose timers may fire after the connection was closed: the exception that gRPC throws then,
 * where nobody could catch it, would end the process. Whoever made the call has long had an answer.
 */
export function retriesUntilClosed(): Interceptor[] {
  const tried = new WeakSet<object>();
  const quiet: Interceptor = (options, nextCall) => {
    try {
      // typed as the class, of which callers use this interface
      return nextCall(options) as ReturnType<Interceptor>;
    } catch (err) {
      if (!tried.has(options)) throw err;
      return silentCall();
    } finally {
      tried.add(options);
    }
  };
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), quiet];
}

/** A call that nothing comes of. */
function silentCall(): ReturnType<Interceptor> {
  const nothing = () => {};
  const call = { start: nothing, sendMessage: nothing, halfClose: nothing, cancelWithStatus: nothing };
  return call as unknown as ReturnType<Interceptor>;
}
