/**
 * Lists the functions that SQL inside a request may execute, and the functions with other rights than their caller's,
 * with reasons. For `svc policies --functions`, and for `sql/_functions.md` (scripts/functions-page.ts).
 * Next hop: `sql/catalog/list_functions.sql`.
 */
import type pg from "pg";

/** A row of `svc_private.list_functions()`. */
export interface DatabaseFunction {
  name: string;
  is_platform: boolean;
  anonymous: boolean;
  authenticated: boolean;
  login: boolean;
  is_trigger: boolean;
  is_definer: boolean;
  owner: string;
  writes: boolean;
  says: string;
  /** Why it runs with its owner's rights. */
  reason: string | null;
}

/** @param client as the system or the administrator */
export async function listFunctions(client: pg.Pool | pg.ClientBase): Promise<DatabaseFunction[]> {
  return (await client.query<DatabaseFunction>("select * from svc_private.list_functions()")).rows;
}

/** Who may execute it, in words. */
export function callersOf({ anonymous, authenticated, login }: DatabaseFunction): string {
  if (anonymous && authenticated) return "every request";
  if (anonymous) return "requests without an account";
  if (authenticated) return "signed-in requests";
  return login ? "the requests' login" : "no request";
}
