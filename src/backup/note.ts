/**
 * The line of a backup, or of a trial restore, in `svc.operator_acts`: metrics, `svc doctor` and Studio tell how old the
 * last ones are.
 * Next hop: `sql/backup/backup_state.sql`.
 */
import { hostname } from "node:os";
import { resolve } from "node:path";
import { withClient } from "../postgres/with-client.ts";
import type { Manifest } from "./manifest.ts";

/** @param folder of the backup @throws DatabaseError: the backup itself is complete, and only its line is missing */
export async function noteBackup(
  adminUrl: string,
  act: "db_backup" | "db_verify",
  folder: string,
  { takenAt, tables, files, dump }: Manifest,
): Promise<void> {
  const details = {
    folder: resolve(folder),
    host: hostname(),
    takenAt,
    tables: tables.length,
    files: files.count,
    bytes: dump.size + files.bytes,
  };
  await withClient(adminUrl, act === "db_backup" ? "svc db backup" : "svc db verify", (client) =>
    client.query("select svc_private.note_act($1, $2, 'succeeded')", [act, details]),
  );
}
