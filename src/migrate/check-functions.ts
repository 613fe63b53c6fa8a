/**
 * Checks the bodies of the functions that an application's files have just made. The files are applied without this check,
 * because a function may call one of a later file. Without it a misspelt table would fail at the first call: a policy
 * would then refuse every statement on its table.
 * Next hop: `sql/migrate/functions_made_now.sql` lists the functions.
 */
import pg from "pg";
import { MigrationError, migrationFailed } from "./migration-error.ts";

/** A file that was applied. */
export interface AppliedFile {
  /** With its scope: `application/sql/…`. */
  path: string;
  text: string;
}

/**
 * Within the transaction that applied the files, after the last one.
 *
 * @throws MigrationError with the file and the line of the first mistake
 */
export async function checkFunctions(client: pg.Client, files: readonly AppliedFile[]): Promise<void> {
  const { rows } = await client.query("select name, definition, body from svc_private.functions_made_now()");
  if (rows.length === 0) return;
  await client.query("set local role svc_owner");
  await client.query("set local check_function_bodies = on");
  for (const made of rows) {
    // Made again rather than validated by itself: so PostgreSQL applies the settings of the function, such as search_path.
    await client.query(made.definition).catch((error: unknown) => {
      throw bodyFailed(made, files, error);
    });
  }
  await client.query("reset role");
}

/** Migrations may have a copy of a function of `sql/`: the file of `sql/`, applied after them, is the one to correct. */
function bodyFailed(
  { name, definition, body }: { name: string; definition: string; body: string },
  files: readonly AppliedFile[],
  error: unknown,
): MigrationError {
  const file = files.findLast(({ text }) => text.includes(body));
  if (!file || !(error instanceof pg.DatabaseError)) {
    return new MigrationError(`The body of the function ${name} is not valid: ${error}`, { cause: error });
  }
  if (error.position !== undefined) {
    error.position = String(Number(error.position) - definition.indexOf(body) + file.text.indexOf(body));
  }
  return migrationFailed(file.path, file.text, error);
}
