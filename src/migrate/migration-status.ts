/**
 * Lists applied and pending files, for `svc migrate status`. Changes nothing.
 * Next hop: `ledger.ts` reads what `migrate.ts` has recorded.
 */
import { isQueueCurrent } from "../jobs/queue.ts";
import { withClient } from "../postgres/with-client.ts";
import { checksum, type Folders, isApplied, readFiles, readLedger, type Scope, unknownMigrations } from "./ledger.ts";

export interface FileStatus {
  /** `scope/migrations/…` or `scope/sql/…`, as `svc migrate` reports it; `platform/queue` when the queue's schema is outdated. */
  path: string;
  /**
   * `pending`: `svc migrate` would apply it. `edited`: a migration whose text differs from the applied one; `svc
   * migrate` refuses it. `missing`: an applied migration without a file.
   */
  state: "applied" | "pending" | "edited" | "missing";
  /** When it was last applied; null if never. */
  appliedAt: Date | null;
}

/** The files of both scopes, the platform's first. @param options.only the files of one scope */
export async function migrationStatus({
  adminUrl,
  only,
  ...folders
}: Folders & { adminUrl: string; only?: Scope }): Promise<FileStatus[]> {
  return withClient(adminUrl, "svc migrate status", async (client) => {
    const ledger = await readLedger(client);
    const files = await readFiles(folders, undefined, only);
    const status = (path: string, state: FileStatus["state"]): FileStatus => {
      return { path, state, appliedAt: ledger.appliedAt.get(path) ?? null };
    };
    const there = files.map(({ kind, key, whole, text }) => {
      const recorded = ledger[kind].get(key);
      if (recorded === undefined) return status(whole, "pending");
      // A changed file of sql/ is applied again, a migration never is.
      if (kind === "sql") return status(whole, recorded === checksum(text) ? "applied" : "pending");
      return status(whole, isApplied(recorded, text) ? "applied" : "edited");
    });
    const missing = unknownMigrations(ledger, files).filter(
      (path) => only === undefined || path.startsWith(`${only}/`),
    );
    const queue = (await isQueueCurrent(client)) ? [] : [status("platform/queue", "pending")];
    return [...queue, ...there, ...missing.map((path) => status(path, "missing"))];
  });
}
