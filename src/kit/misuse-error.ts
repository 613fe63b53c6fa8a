/** The error of an author's mistake in a call of `ctx`: of no use to the caller, so it stands in the log. */
import { SvcError } from "./svc-error.ts";

/**
 * @param call whose it is, such as "ctx.realtime.emit"
 * @param production whether callers are strangers. To others, and to a handler that catches it, the hint says it too
 */
export function misuseError(call: string, text: string, production: boolean): SvcError {
  const reason = `${call}: ${text}`;
  return new SvcError("INTERNAL", undefined, { cause: new Error(reason), ...(!production && { hint: reason }) });
}
