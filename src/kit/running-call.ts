/**
 * The call of a handler, or the step of a workflow, whose code runs. `src/postgres/transaction.ts` refuses to serve the code of
 * another call, and `src/ai/call.ts` finds its caller.
 */
import { AsyncLocalStorage } from "node:async_hooks";

const calls = new AsyncLocalStorage<{ id: number; value: unknown }>();
let last = 0;

/**
 * A number for a call that begins. What belongs to a call knows it by its number: a function for each call, stored on its
 * transaction, would keep the call's objects until a full collection (docs/adr/0004-calls-before-express.md).
 */
export const nextCallId = (): number => ++last;

/** @param value what the code of the call finds by `runningCall()` */
export const runAsCall = <T>(id: number, value: unknown, work: () => T): T => calls.run({ id, value }, work);

/** Undefined outside of a call. */
export const runningCall = (): unknown => calls.getStore()?.value;

/** Whether the code that runs belongs to another call than the one with this number. @param id undefined for what belongs to no call: then it does not */
export function isAnotherCall(id: number | undefined): boolean {
  const running = calls.getStore();
  return id !== undefined && running !== undefined && running.id !== id;
}
