/** Hints for developers in error answers: where to look, and which command explains the error. None in production. */
import type { Caller } from "../contract/caller.ts";
import type { CrudStatement } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { SvcError } from "../kit/svc-error.ts";

/** @param act what was asked of the row. (Default: a change) */
export const missingRow = (hint?: string, act: "see" | "change" = "change") =>
  new SvcError("NOT_FOUND", `This row does not exist, or you may not ${act} it.`, { hint });

/** Says of a refused write where the code was that sent it. @throws the error */
export function readOnly(error: unknown): never {
  const wrote = error instanceof SvcError && error.code === "QUERY_WROTE";
  throw wrote ? new SvcError("QUERY_WROTE", "ctx.read was given a write.", { hint: "Write with ctx.db." }) : error;
}

/** Policies hide rows without an error. In development, this hint says how to find the reason. */
export function explanation(
  { statement: { table }, crud }: ProcedureDefinition & { statement: CrudStatement },
  { session }: Caller,
  input: unknown,
): string {
  const id = String(Object(input).id);
  const row = /^\w[\w-]*$/.test(id) ? id : "ID"; // only safe characters in a command to paste
  const who = session
    ? ` --as ${session.user.id}${session.key ? ` --scopes ${session.key.scopes.join(",")}` : ""}`
    : "";
  const command = `svc rls explain ${table}${who} --row ${row}`;
  // Policies do not cover soft deletion: the command would report the row as visible.
  return `To see why: ${command}${crud?.softDelete ? `. Or it was removed: see its ${crud.softDelete.name}.` : ""}`;
}

/** The error came from another transaction, for example from unsafeDb. */
export const besides =
  "A statement of another transaction failed, such as one of unsafeDb. Callers get no details unless the handler catches the error. The log has them.";
