/**
 * Lists applied and pending files, for `svc migrate status`. Changes nothing.
 * Next hop: `ledger.ts` reads what `migrate.ts` has recorded.
 */

import { queueRevision, wantedQueueRevision } from "../jobs/queue.ts";
import { withClient } from "../postgres/with-client.ts";
import {
  checksum,
  type Folders,
  isApplied,
  type Ledger,
  readLedger,
  type Scope,
  scopes,
  unknownMigrations,
} from "./ledger.ts";
import { type MigrationFile, readFolder } from "./migration-files.ts";

export interface FileStatus {
  /**
   * `scope/migrations/…` or `scope/sql/…`, as `svc migrate` reports it; `platform/queue` when the queue's schema is
   * outdated.
   */
  path: string;
  /**
   * `pending`: `svc migrate` would apply it. `edited`: a migration whose text differs from the applied one; `svc
   * migrate` refuses it. `missing`: an applied migration without a file.
   */
  state: "applied" | "pending" | "edited" | "missing";
  /** When it was last applied; null if never. */
  appliedAt: Date | null;
}

/**
 * The files of both scopes, in the order in which `svc migrate` lists them: platform first.
 *
 * @param options.only the files of one scope
 */
export async function migrationStatus({
  adminUrl,
  only,
  ...folders
}: Folders & { adminUrl: string; only?: Scope }): Promise<FileStatus[]> {
  return withClient(adminUrl, "svc migrate status", async (client) => {
    const ledger = await readLedger(client);
    const files: FileStatus[] = [];
    if ((await queueRevision(client)) < wantedQueueRevision) {
      files.push({ path: "platform/queue", state: "pending", appliedAt: null });
    }
    for (const { scope, folder } of scopes(folders)) {
      if (only !== undefined && scope !== only) continue;
      const statusOf = (kind: "migrations" | "sql", { path, text }: MigrationFile): FileStatus => {
        const whole = `${scope}/${kind}/${path}`;
        const recorded = ledger[kind].get(`${scope}/${path}`);
        // A changed file of sql/ is applied again, a migration never is.
        const [isSame, changed] =
          kind === "sql"
            ? [(sum: string) => sum === checksum(text), "pending" as const]
            : [isApplied, "edited" as const];
        const state = recorded === undefined ? "pending" : isSame(recorded, text) ? "applied" : changed;
        return { path: whole, state, appliedAt: ledger.appliedAt.get(whole) ?? null };
      };
      const migrations = await readFolder(`${folder}/migrations`);
      files.push(...migrations.map((file) => statusOf("migrations", file)), ...gone(scope, migrations, ledger));
      files.push(...(await readFolder(`${folder}/sql`)).map((file) => statusOf("sql", file)));
    }
    return files;
  });
}

function gone(scope: string, files: MigrationFile[], ledger: Ledger): FileStatus[] {
  const present = new Set(files.map(({ path }) => `${scope}/${path}`));
  return unknownMigrations(ledger, present)
    .filter((path) => path.startsWith(`${scope}/`))
    .map((path) => ({ path, state: "missing", appliedAt: ledger.appliedAt.get(path) ?? null }));
}
