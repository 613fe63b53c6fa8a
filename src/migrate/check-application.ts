/**
 * What is checked after the application's files, within the transaction that applied them.
 * Next hop: `sql/migrate/functions_made_now.sql` lists the functions.
 */
import pg from "pg";
import { openToKeys, type PolicyConditions } from "../contract/asks-for-scope.ts";
import { MigrationError, migrationFailed } from "./migration-error.ts";

export interface AppliedFile {
  /** With its scope: `application/sql/…`. */
  path: string;
  text: string;
}

/** @param applied all files, by scope and path @throws MigrationError */
export async function checkApplication(
  client: pg.Client,
  files: readonly AppliedFile[],
  applied: readonly string[],
): Promise<void> {
  await checkFunctions(client, files);
  if (applied.some((path) => path.startsWith("application/"))) await checkKeys(client);
}

/**
 * Checks the bodies of the functions that files of an application's `sql/` have just made. The files are applied without
 * this check, because a function may call one of a later file. Without it a misspelt table would fail at the first call: a
 * policy would then refuse every statement on its table. A function that only a migration made is not checked: a later
 * migration may have dropped what it reads, and a fresh database gets all of them at once.
 *
 * @throws MigrationError with the file and the line of the first mistake
 */
async function checkFunctions(client: pg.Client, files: readonly AppliedFile[]): Promise<void> {
  if (files.length === 0) return;
  const { rows } = await client.query<{ definition: string; body: string }>(
    "select definition, body from svc_private.functions_made_now()",
  );
  await client.query("set local role svc_owner");
  await client.query("set local check_function_bodies = on");
  for (const { definition, body } of rows) {
    const file = files.findLast(({ text }) => text.includes(body));
    if (!file) continue;
    // Made again rather than validated by itself: so PostgreSQL applies the settings of the function, such as search_path.
    await client.query(definition).catch((error: unknown) => {
      if (error instanceof pg.DatabaseError && error.position !== undefined) {
        error.position = String(
          Number(error.position) - charactersBefore(body, definition) + charactersBefore(body, file.text),
        );
      }
      throw migrationFailed(file.path, file.text, error);
    });
  }
  await client.query("reset role");
}

const charactersBefore = (part: string, text: string) => [...text.slice(0, text.indexOf(part))].length;

/**
 * A service looks for tables that are open to every API key when it starts. Here, because running services accept keys, too. An
 * application whose policies ask for no scope has none.
 */
async function checkKeys(client: pg.Client): Promise<void> {
  await client.query("set local role svc_owner");
  const { rows } = await client.query<PolicyConditions>(
    "select * from auth.list_scope_conditions() where auth.has_api_keys()",
  );
  await client.query("reset role");
  if (!rows.some(({ conditions }) => conditions.some((one) => one.includes("has_scope(")))) return;
  const open = [...openToKeys(rows)];
  if (open.length === 0) return;
  const hint = `Run svc migrate generate, which closes it to keys, or ask svc.has_scope('…') in a restrictive policy of ${open[0]}.`;
  const message = `API keys of users could do all that their users may in ${open.join(", ")}: no policy asks for a scope.`;
  throw new MigrationError(message, { hint });
}
