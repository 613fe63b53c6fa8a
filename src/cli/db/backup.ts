/**
 * `svc db backup`: backs up the database and the stored files, consistent with one snapshot, into one folder.
 * Next hop: `src/backup/take.ts`.
 */
import { BackupError } from "../../backup/error.ts";
import { noteBackup } from "../../backup/note.ts";
import { megabytes, takeBackup } from "../../backup/take.ts";
import { createDriver } from "../../storage/storage.ts";
import { databaseCommand, say } from "../command.ts";
import { word } from "../options.ts";
import { conclude } from "../output.ts";
import { version } from "../platform.ts";
import { stopSignal } from "../signal.ts";

export const command = databaseCommand("admin", {
  args: { folder: word("The folder to write to: it must be empty, or not exist yet.") },
  run: async (cluster, { folder }, config) => {
    const manifest = await takeBackup({
      adminUrl: cluster.urls.admin,
      driver: createDriver(config.storage),
      folder,
      version,
      binDir: cluster.binDir,
      report: say,
      signal: stopSignal(new BackupError("Interrupted. No backup was written.")),
    });
    const { files, tables, dump } = manifest;
    await noteBackup(cluster.urls.admin, "db_backup", folder, manifest).catch((error) =>
      say(`The backup is complete. The database could not be told of it: ${error.message}`),
    );
    conclude(
      { folder, tables: tables.length, files, bytes: dump.size + files.bytes },
      `${folder}: ${tables.length} tables, ${files.count} files, ${megabytes(dump.size + files.bytes)}.`,
    );
    if (files.damaged === 0) return;
    say(`${files.damaged} files were missing or damaged before: see svc storage verify.`);
    process.exitCode = 1;
  },
});
