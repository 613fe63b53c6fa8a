/**
 * Start-up check: the generated functions in the database must match the definitions in memory. If they differ, a
 * deploy has skipped `svc codegen` or `svc migrate`, and answers would have outdated columns.
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

/** The database does not match the definitions. */
export class DriftError extends Error {
  override readonly name = "DriftError";
}

/** @throws DriftError that lists the functions and the commands that fix it */
export async function refuseDrift(pool: pg.Pool, resources: readonly CrudDefinition[]): Promise<void> {
  const look = () => strayFunctions(pool, resources);
  // On a busy machine the start of the process may take longer than a call waits for its connection.
  const stray = await look().catch((error) => {
    if (!isConnectionLoss(error)) throw error;
    return look();
  });
  if (stray.length === 0) return;
  const list = stray.map(({ signature, problem }) => `  ${signature} is ${problem}`).join("\n");
  throw new DriftError(
    `The database does not have the CRUD functions of these definitions:\n${list}\n` +
      "  Run `svc codegen`, `svc migrate generate` if a table changed, and `svc migrate`. To serve anyway during a rolling deploy: --allow-drift",
  );
}
