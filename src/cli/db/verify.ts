/**
 * `svc db verify`: checks that a backup is complete; with --deep, that it can be restored with all its rows.
 * Next hop: `src/backup/check.ts`, `src/backup/rehearse.ts`.
 */
import { checkBackup } from "../../backup/check.ts";
import { noteBackup } from "../../backup/note.ts";
import { rehearseRestore } from "../../backup/rehearse.ts";
import { platformRoot, readConfig, say, withDatabase } from "../command.ts";
import { defineCommand } from "../define.ts";
import { flag, word } from "../options.ts";
import { conclude, during, print } from "../output.ts";

export const command = defineCommand({
  args: {
    folder: word("The backup's folder."),
    deep: flag("Also restore the database under a temporary name, compare every table's rows, and drop it again."),
  },
  run: async (args) => {
    const { manifest, problems } = await during("Reading the backup", () => checkBackup(args.folder));
    const { files, tables, takenAt } = manifest;
    const value = { takenAt, tables: tables.length, files, problems };
    // Without --deep it has ended here; with it, what follows may fail.
    if (problems.length > 0 || !args.deep) print(value, () => problems.map((problem) => `${problem}\n`).join(""));
    say(`Taken ${takenAt}: ${tables.length} tables, ${files.count} files.`);
    if (files.damaged > 0) say(`${files.damaged} files were missing or damaged when it was taken.`);
    if (problems.length > 0) {
      say(`${problems.length} differences: this backup is damaged.`);
      process.exitCode = 1;
      return;
    }
    say("All files are intact.");
    if (!args.deep) return;
    await withDatabase(await readConfig(args.cwd), { logins: "admin" }, async (cluster) => {
      const { admin } = cluster.urls;
      await during("Restoring as a trial", () =>
        rehearseRestore({
          folder: args.folder,
          manifest,
          adminUrl: admin,
          platform: platformRoot,
          binDir: cluster.binDir,
        }),
      );
      await noteBackup(admin, "db_verify", args.folder, manifest).catch((error) =>
        say(`The trial has succeeded. The database could not be told of it: ${error.message}`),
      );
      conclude({ ...value, restored: true }, "Trial restore: every table has the rows of the backup.");
    });
  },
});
