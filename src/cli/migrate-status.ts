/**
 * `svc migrate status`: lists which files of migrations/ and sql/ the database has and which it lacks. For people and
 * CI.
 */
import { type FileStatus, migrationStatus } from "../migrate/migration-status.ts";
import { cwdArgument, platformRoot, readConfig, run, say, withDatabase } from "./command.ts";
import { defineCommand } from "./define.ts";
import { paint, table, time } from "./table.ts";

export const migrateStatus = defineCommand({
  meta: { name: "status", description: "List what is applied, pending or edited. Exit code 1 unless all is applied." },
  args: cwdArgument,
  run: ({ args }) =>
    run(args.cwd, async () => {
      const config = await readConfig(args.cwd);
      await withDatabase(config, { logins: "admin" }, async (cluster) => {
        const target = { adminUrl: cluster.urls.admin, platform: platformRoot, application: config.cwd };
        const files = await migrationStatus(target);
        const rows = files.map(({ state, appliedAt, path }) => [
          paint(state, colours[state]),
          time(appliedAt ?? null),
          path,
        ]);
        process.stdout.write(table(["state", "applied at (UTC)", "file"], rows));
        say(summary(files));
        if (files.some(({ state }) => state !== "applied")) process.exitCode = 1;
      });
    }),
});

const colours: Record<FileStatus["state"], number> = { applied: 32, pending: 33, edited: 31, missing: 31 };

const advice: Record<FileStatus["state"], string> = {
  applied: "",
  pending: "Run `svc migrate`.",
  edited: "Restore their text and write a new migration for the change.",
  missing: "They were applied here and their files are gone: another branch, or a lost file.",
};

function summary(files: readonly FileStatus[]): string {
  const counts = (["pending", "edited", "missing"] as const).flatMap((state) => {
    const count = files.filter((file) => file.state === state).length;
    return count > 0 ? `${count} ${state}. ${advice[state]}` : [];
  });
  return counts.length > 0 ? counts.join("\n") : `Everything is applied: ${files.length} files.`;
}
