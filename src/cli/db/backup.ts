/**
 * `svc db backup`: backs up the database and the stored files, consistent with one snapshot, into one folder.
 * Next hop: `src/backup/take.ts`.
 */
import { BackupError } from "../../backup/error.ts";
import { noteBackup } from "../../backup/note.ts";
import { megabytes, takeBackup } from "../../backup/take.ts";
import { createDriver } from "../../storage/storage.ts";
import { cwdArgument, readConfig, say, withDatabase } from "../command.ts";
import { defineCommand } from "../define.ts";
import { conclude } from "../output.ts";
import { stopSignal } from "../signal.ts";
import { version } from "../version.ts";

export const command = defineCommand({
  args: {
    ...cwdArgument,
    folder: {
      type: "positional",
      description: "The folder to write to: it must be empty, or not exist yet.",
      required: true,
    },
  },
  run: async ({ args }) => {
    const config = await readConfig(args.cwd);
    await withDatabase(config, { logins: "admin" }, async (cluster) => {
      const manifest = await takeBackup({
        adminUrl: cluster.urls.admin,
        driver: createDriver(config.storage),
        folder: args.folder,
        version,
        binDir: cluster.binDir,
        report: say,
        signal: stopSignal(new BackupError("Interrupted. No backup was written.")),
      });
      const { files, tables, dump } = manifest;
      await noteBackup(cluster.urls.admin, "db_backup", args.folder, manifest).catch((error) =>
        say(`The backup is complete. The database could not be told of it: ${error.message}`),
      );
      conclude(
        { folder: args.folder, tables: tables.length, files, bytes: dump.size + files.bytes },
        `${args.folder}: ${tables.length} tables, ${files.count} files, ${megabytes(dump.size + files.bytes)}.`,
      );
      if (files.damaged === 0) return;
      say(`${files.damaged} files were missing or damaged before: see svc storage verify.`);
      process.exitCode = 1;
    });
  },
});
