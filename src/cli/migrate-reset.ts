/** `svc migrate reset`: empties a development database and migrates it again. All rows are lost. */
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { migrate } from "../migrate/migrate.ts";
import { databaseName, dropAll } from "../migrate/migration-reset.ts";
import { ask } from "./ask.ts";
import { readConfig, targetOf, withDatabase } from "./command.ts";
import { defineCommand } from "./define.ts";
import { flag, text } from "./options.ts";
import { conclude, during } from "./output.ts";

export const command = defineCommand({
  args: {
    yes: flag("Do not ask."),
    force: flag("Also with DATABASE_URL or in production; needs --database."),
    database: text("The name of the database that may be emptied, with --force. (Default: none)"),
  },
  run: async (args) => {
    const config = await readConfig(args.cwd);
    refuseElsewhere(config, args.force && Boolean(args.database));
    refuseWithoutAnswer(args.yes);
    await withDatabase(config, { logins: "admin" }, async (cluster) => {
      const adminUrl = cluster.urls.admin;
      const name = await databaseName(adminUrl);
      if (args.database !== undefined && args.database !== name) {
        throw new DefinitionError(`The database is ${name}, not ${args.database}. Nothing was done.`);
      }
      if (!args.yes && !(await isConfirmed(name))) return conclude({ emptied: null }, "Nothing was done.");
      const applied = await during("Emptying the database and migrating it", async () => {
        await dropAll(adminUrl);
        return migrate(targetOf(config, adminUrl));
      });
      conclude({ emptied: name, applied }, `Emptied ${name}, and applied ${applied.length} files.`);
    });
  },
});

/** A database that may hold real data must be named explicitly. */
function refuseElsewhere({ database, production }: EffectiveConfig, isNamed: boolean): void {
  if ((!database && !production) || isNamed) return;
  const why = database ? "DATABASE_URL names a server that others may use" : "NODE_ENV is production";
  throw new DefinitionError(`The reset is refused: ${why}. Nothing was done.`, {
    hint: "To delete every row there anyway: svc migrate reset --force --database NAME",
  });
}

function refuseWithoutAnswer(yes: boolean): void {
  if (yes || process.stdin.isTTY) return;
  throw new DefinitionError("There is no terminal for the confirmation. Nothing was done.", {
    hint: "Pass --yes to skip the question.",
  });
}

async function isConfirmed(name: string): Promise<boolean> {
  const answer = await ask(`Every row in ${name} will be lost. Type its name to continue: `);
  return answer?.trim() === name;
}
