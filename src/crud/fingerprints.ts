/**
 * Start-up check: the generated functions in the database must match the definitions in memory, and have the columns that
 * they use. Otherwise a deploy has skipped `svc codegen`, `svc migrate generate` or `svc migrate`, and calls would fail or answer
 * with outdated columns.
 */
import type pg from "pg";
import type { CrudDefinition } from "../contract/crud.ts";
import { isConnectionLoss } from "../postgres/errors.ts";
import { crudFunctions } from "./crud-sql.ts";

interface Stray {
  signature: string;
  problem: "missing" | "different";
}

/** @returns the functions that are missing or come from another definition; empty when all match */
async function strayFunctions(pool: pg.Pool, resources: readonly CrudDefinition[]): Promise<Stray[]> {
  const expected = resources.flatMap(crudFunctions);
  const { rows } = await pool.query<{ signature: string; exists: boolean; comment: string | null }>(
    `select signature, to_regprocedure(signature) is not null as exists,
            obj_description(to_regprocedure(signature), 'pg_proc') as comment
       from unnest($1::text[]) as signature`,
    [expected.map(({ signature }) => signature)],
  );
  const found = new Map(rows.map((row) => [row.signature, row]));
  return expected.flatMap(({ signature, fingerprint }): Stray[] => {
    const row = found.get(signature);
    if (!row?.exists) return [{ signature, problem: "missing" }];
    return row.comment?.endsWith(`svc:${fingerprint}`) ? [] : [{ signature, problem: "different" }];
  });
}

/** @returns the columns of resources that their tables do not have, such as `public.notes.title`; empty when all exist */
async function missingColumns(pool: pg.Pool, resources: readonly CrudDefinition[]): Promise<string[]> {
  const columns = resources.flatMap(({ schema, table, columns }) => columns.map(({ name }) => [schema, table, name]));
  const { rows } = await pool.query<{ missing: string }>(
    `select distinct concat_ws('.', nullif(wanted.schema, 'public'), wanted.relation, wanted.name) as missing
       from unnest($1::text[], $2::text[], $3::text[]) as wanted (schema, relation, name)
      where not exists (
        select from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
         where n.nspname = wanted.schema and c.relname = wanted.relation and a.attname = wanted.name)
      order by 1`,
    [0, 1, 2].map((part) => columns.map((one) => one[part])),
  );
  return rows.map(({ missing }) => missing);
}

/** The database does not match the definitions. */
export class DriftError extends Error {
  override readonly name = "DriftError";
}

/** @throws DriftError that lists the functions or columns, and the commands that fix it */
export async function refuseDrift(pool: pg.Pool, resources: readonly CrudDefinition[]): Promise<void> {
  const look = async () => ({
    stray: await strayFunctions(pool, resources),
    missing: await missingColumns(pool, resources),
  });
  // On a busy machine the start of the process may take longer than a call waits for its connection.
  const { stray, missing } = await look().catch((error) => {
    if (!isConnectionLoss(error)) throw error;
    return look();
  });
  if (stray.length > 0) {
    const list = stray.map(({ signature, problem }) => `  ${signature} is ${problem}`).join("\n");
    throw new DriftError(
      `The database does not have the CRUD functions of these definitions:\n${list}\n` +
        `  Run \`svc codegen\`, \`svc migrate generate\` if a table changed, and \`svc migrate\`. ${anyway}`,
    );
  }
  if (missing.length > 0) {
    throw new DriftError(
      `The database does not have these columns of the schema:\n${missing.map((one) => `  ${one}`).join("\n")}\n` +
        `  Run \`svc migrate generate\`, read the file that it writes, and run \`svc migrate\`. ${anyway}`,
    );
  }
}

const anyway = "To serve anyway during a rolling deploy: --allow-drift";
