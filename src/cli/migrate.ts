/** `svc migrate`: brings the database to what the files say. */
import { defineCommand } from "citty";
import { migrate } from "../postgres/migrate.ts";
import { cwdArgument, openDatabase, platformRoot, readConfig, run, say } from "./command.ts";

export const migrateCommand = defineCommand({
  meta: { name: "migrate", description: "Apply what is new in migrations/ and sql/." },
  args: cwdArgument,
  run: ({ args }) =>
    run(async () => {
      const config = await readConfig(args.cwd);
      const cluster = await openDatabase(config);
      try {
        const target = { adminUrl: cluster.urls.admin, platform: platformRoot, application: config.cwd };
        const applied = await migrate({ ...target, report: say });
        say(applied.length === 0 ? "Nothing to do." : `Applied ${applied.length} files.`);
      } finally {
        await cluster.stop();
      }
    }),
});
