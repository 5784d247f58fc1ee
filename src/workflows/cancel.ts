import { CancellationScope, CancelledFailure } from '@temporalio/workflow';

/** A cancel is swallowed when the awaited activity completes normally, so it is looked for after each await. */
export function throwIfCancelled(): void {
  if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('The task was cancelled.');
}
