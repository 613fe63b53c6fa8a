/**
 * `svc db restore`: restores a backup's database and files to where the application expects them.
 * Next hop: `src/backup/restore.ts`.
 */
import { readFile } from "node:fs/promises";
import { checkBackup } from "../../backup/check.ts";
import { BackupError } from "../../backup/error.ts";
import { restoreBackup } from "../../backup/restore.ts";
import { transactionControlIn } from "../../migrate/transaction-control.ts";
import { createDriver } from "../../storage/storage.ts";
import { platformRoot, readConfig, say, withDatabase } from "../command.ts";
import { defineCommand } from "../define.ts";
import { flag, text, word } from "../options.ts";
import { conclude, during } from "../output.ts";

export const command = defineCommand({
  args: {
    folder: word("The backup's folder."),
    force: flag("Replace a database that is not empty: all its rows are lost."),
    "as-copy": flag(
      "Restore a copy for tests: sessions end, crons are paused, and no job, workflow or webhook of the original runs again.",
    ),
    sql: text("A file of SQL that runs before the commit, as one that replaces names and addresses. (Default: none)"),
    "end-sessions": flag("Sign out all users. Otherwise sessions that ended after the backup are valid again."),
  },
  run: async (args) => {
    const sql = args.sql === undefined ? undefined : await readSql(args.sql);
    const { manifest, problems } = await during("Reading the backup", () => checkBackup(args.folder));
    if (problems.length > 0) {
      throw new BackupError(`This backup is damaged: ${problems[0]}. Nothing was done.`, {
        hint: `svc db verify ${args.folder} lists all damage.`,
      });
    }
    const config = await readConfig(args.cwd);
    await withDatabase(config, { logins: "admin" }, async (cluster) => {
      await restoreBackup({
        folder: args.folder,
        manifest,
        adminUrl: cluster.urls.admin,
        platform: platformRoot,
        driver: createDriver(config.storage),
        force: args.force,
        endSessions: args["end-sessions"],
        asCopy: args["as-copy"],
        sql,
        binDir: cluster.binDir,
        report: say,
      });
      conclude(
        { restored: args.folder },
        "Next: run svc migrate, since the files may be newer than the backup; then start.",
      );
    });
  },
});

/** @throws BackupError before anything is done */
async function readSql(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch((cause) => {
    throw new BackupError(`--sql ${path} cannot be read: ${cause.message}. Nothing was done.`, { cause });
  });
  const found = transactionControlIn(text);
  if (found) {
    throw new BackupError(`--sql ${path}:${found.line}: ${found.statement} would end the restore. Nothing was done.`, {
      hint: "Leave out BEGIN, COMMIT, END and ROLLBACK: the file runs in the transaction that restores.",
    });
  }
  return text.replace(/^\uFEFF/, "");
}
