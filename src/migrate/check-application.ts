/** What is checked after the application's files, within the transaction that applied them. */
import type pg from "pg";
import { openToKeys, type PolicyConditions } from "../contract/asks-for-scope.ts";
import { type AppliedFile, checkFunctions } from "./check-functions.ts";
import { MigrationError } from "./migration-error.ts";

export type { AppliedFile };

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
  throw new MigrationError(
    `API keys of users could do all that their users may in ${open.join(", ")}: no policy asks for a scope.`,
    {
      hint: `Run svc migrate generate, which closes it to keys, or ask svc.has_scope('…') in a restrictive policy of ${open[0]}.`,
    },
  );
}
