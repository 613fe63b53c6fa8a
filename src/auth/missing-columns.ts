/**
 * Says at start which tables and columns of better-auth's plugins are missing: their endpoints would answer 500.
 * Called by `create-sign-in.ts`. Next hop: `sql/auth/list_columns.sql`.
 */
import { getAuthTables } from "better-auth/db";
import type pg from "pg";
import type { Logger } from "pino";
import { askAuth } from "./ask-auth.ts";
import type { Library } from "./library-types.ts";

export async function warnOfMissingColumns(
  pool: pg.Pool,
  { context }: Pick<Library, "context">,
  log: Logger,
): Promise<void> {
  const rows = await askAuth<{ name: string }>(pool, "name from auth.list_columns() as name");
  const columns = new Set(rows.map(({ name }) => name));
  const tables = new Set(rows.map(({ name }) => name.split(".", 1)[0]));
  const missing = Object.values(getAuthTables(context.options)).flatMap(({ modelName, fields }) => {
    if (!tables.has(modelName)) return [modelName];
    const names = Object.entries(fields).map(([field, { fieldName }]) => `${modelName}.${fieldName ?? field}`);
    return names.filter((name) => !columns.has(name));
  });
  if (missing.length === 0) return;
  log.warn(
    { missing },
    "tables or columns of better-auth's plugins are missing: run svc migrate generate, then svc migrate",
  );
}
