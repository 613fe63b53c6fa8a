/** `svc migrate` and `svc migrate apply`: apply the files to the database. Next hop: `src/migrate/migrate.ts`. */
import { migrate } from "../migrate/migrate.ts";
import { cwdArgument, platformRoot, readConfig, say, withDatabase } from "./command.ts";
import { defineCommand } from "./define.ts";
import { wholeNumber } from "./options.ts";
import { conclude } from "./output.ts";

export const command = defineCommand({
  args: {
    ...cwdArgument,
    again: { type: "boolean", description: "Apply every file of sql/ again, to undo manual changes." },
    "allow-older": {
      type: "boolean",
      description:
        "Apply although newer files have migrated this database: their functions are replaced by older ones.",
    },
    wait: {
      type: "string",
      description:
        "Seconds to keep retrying while other sessions use the tables, and to wait for another migration. (Default: 300)",
      default: "300",
    },
  },
  run: async ({ args }) => {
    const config = await readConfig(args.cwd);
    await withDatabase(config, { logins: "admin" }, async (cluster) => {
      let isChanged = false; // also set by dropped or secured objects, which appear in no file
      const report = (line: string) => {
        isChanged ||= !line.startsWith("waiting ");
        say(line);
      };
      const applied = await migrate({
        adminUrl: cluster.urls.admin,
        platform: platformRoot,
        application: config.cwd,
        again: args.again,
        refuseNewer: config.production && !args["allow-older"],
        patienceMs: wholeNumber("wait", args.wait, 0) * 1000,
        report,
      });
      const said = applied.length > 0 ? [`Applied ${applied.length} files.`] : [];
      conclude({ applied }, ...(isChanged ? said : ["Nothing to do."]));
    });
  },
});
