/** Refuses calls without a session where one is needed. Called by `invoke.ts`. */
import type { CrudStatement } from "../contract/crud.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Caller } from "./caller.ts";

export function requireSession({ caller, anonymous }: { caller: Pick<Caller, "session">; anonymous: boolean }): void {
  if (!anonymous && !caller.session) throw new SvcError("UNAUTHORIZED");
}

/** What a resource gives to callers with a session, others do not get by including it. */
export function requireSessionOf(statement: CrudStatement, input: unknown, caller: Pick<Caller, "session">): void {
  const closed = caller.session ? undefined : statement.closed?.(input);
  if (closed === undefined) return;
  throw new SvcError("UNAUTHORIZED", `Rows of the relation "${closed}" are for signed-in callers.`, {
    hint: "Sign in, or leave the relation out. The author can set allowAnonymous on the createCrud of its table.",
  });
}
