/**
 * Checks the bodies of the functions that files of an application's `sql/` have just made. The files are applied without
 * this check, because a function may call one of a later file. Without it a misspelt table would fail at the first call: a
 * policy would then refuse every statement on its table.
 * Next hop: `sql/migrate/functions_made_now.sql` lists the functions.
 */
import pg from "pg";
import { migrationFailed } from "./migration-error.ts";

/** A file that was applied. */
export interface AppliedFile {
  /** With its scope: `application/sql/…`. */
  path: string;
  text: string;
}

interface MadeFunction {
  definition: string;
  body: string;
}

/**
 * Within the transaction that applied the files, after the last one. A function that only a migration made is not checked:
 * a later migration may have dropped what it reads, and a fresh database gets all of them at once.
 *
 * @throws MigrationError with the file and the line of the first mistake
 */
export async function checkFunctions(client: pg.Client, files: readonly AppliedFile[]): Promise<void> {
  if (files.length === 0) return;
  const { rows } = await client.query<MadeFunction>("select definition, body from svc_private.functions_made_now()");
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
