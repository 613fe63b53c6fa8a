/** `svc migrate` and `svc migrate apply`: apply the files to the database. Next hop: `src/migrate/migrate.ts`. */
import { migrate } from "../migrate/migrate.ts";
import { describeVanished, findVanished } from "../migrate/vanished.ts";
import { databaseCommand, say, targetOf } from "./command.ts";
import { flag, number } from "./options.ts";
import { conclude } from "./output.ts";

export const command = databaseCommand("admin", {
  args: {
    again: flag("Apply every file of sql/ again, to undo manual changes."),
    "allow-older": flag(
      "Apply although newer files have migrated this database: their functions are replaced by older ones.",
    ),
    "allow-rewrites": flag("Rewrite tables although processes serve: calls that wait for such a table see it empty."),
    wait: number("Seconds to keep retrying while other sessions use the tables, and to wait for another migration.", {
      default: 300,
      least: 0,
    }),
  },
  run: async (cluster, args, config) => {
    let isChanged = false; // also set by dropped or secured objects, which appear in no file
    let ofPlatform = 0;
    /** A first run applies hundreds of the platform's functions. */
    const sayOfPlatform = () => {
      if (ofPlatform > 0) say(`applied ${ofPlatform} ${ofPlatform === 1 ? "file" : "files"} of platform/sql`);
      ofPlatform = 0;
    };
    const report = (line: string) => {
      isChanged ||= !line.startsWith("waiting ");
      if (line.startsWith("applied platform/sql/")) ofPlatform++;
      else {
        sayOfPlatform();
        say(line);
      }
    };
    const applied = await migrate({
      ...targetOf(config, cluster.urls.admin),
      again: args.again,
      refuseRewrites: config.production && !args["allow-rewrites"],
      refuseNewer: config.production && !args["allow-older"],
      patienceMs: args.wait * 1000,
      report,
    }).finally(sayOfPlatform);
    const said = applied.length > 0 ? [`Applied ${applied.length} files.`] : [];
    const vanished = await findVanished(targetOf(config, cluster.urls.admin));
    if (vanished.length > 0) say(describeVanished(vanished));
    conclude({ applied }, ...(isChanged ? said : ["Nothing to do."]));
  },
});
