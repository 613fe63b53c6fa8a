/** Where a handler that anybody may call is defined. Only such handlers keep it. */
import { traceAbove } from "../kit/call-sites.ts";

export interface DefinedAt {
  /** `name` of a procedure, `get /path` of a route, `createCrud(prefix)` of generated CRUD. */
  handler: string;
  /** Its stack names the lines that made the definition. */
  trace: Error;
}

/** @param below the builder's method that the application called */
export const definedAt = (
  anonymous: boolean,
  handler: string,
  below: (...args: never[]) => unknown,
): { definedAt?: DefinedAt } => (anonymous ? { definedAt: { handler, trace: traceAbove(below) } } : {});
