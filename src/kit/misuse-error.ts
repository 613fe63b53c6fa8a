/** The error of an author's wrong `ctx` call. It is useless to the caller, so its details are only logged. */
import { SvcError } from "./svc-error.ts";

/**
 * @param call the method, such as "ctx.realtime.emit"
 * @param production whether callers are strangers. Otherwise the hint repeats the text, also for a handler that catches the error
 */
export function misuseError(call: string, text: string, production: boolean): SvcError {
  const reason = `${call}: ${text}`;
  return new SvcError("INTERNAL", undefined, { cause: new Error(reason), ...(!production && { hint: reason }) });
}
