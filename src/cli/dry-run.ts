/** `svc dry-run NAME`: runs a query or mutation as a user and rolls it back. Next hop: `src/service/dry-run.ts`. */
import * as consumers from "node:stream/consumers";
import { loadApp } from "../app/load-app.ts";
import { type DryRun, dryRun } from "../service/dry-run.ts";
import { createLog } from "../telemetry/log.ts";
import { readConfig, withDatabase } from "./command.ts";
import { defineCommand } from "./define.ts";
import { commandPool, findUser, requireMigrated } from "./inspect.ts";
import { parseJson, text, word } from "./options.ts";
import { print } from "./output.ts";
import { readSecrets } from "./read-secrets.ts";
import { printable } from "./table.ts";

export const command = defineCommand({
  args: {
    name: word("The procedure's name, such as tasks.create."),
    as: text("Id or e-mail address of a user. (Default: not signed in)"),
    input: text("The arguments as JSON; - reads them from standard input. (Default: none)"),
  },
  run: async (args) => {
    const given = args.input === "-" ? await consumers.text(process.stdin) : args.input;
    const input = given === undefined ? undefined : parseJson("input", given, '{"title":"Write docs"}');
    const config = await readConfig(args.cwd);
    const app = await loadApp(config);
    await withDatabase(config, { logins: "serving" }, async ({ urls }) => {
      const system = commandPool(urls.system, "svc dry-run");
      const find = args.as === undefined ? requireMigrated(system).then(() => null) : findUser(system, args.as);
      const userId = await find.finally(() => system.end());
      const options = { app, config, urls, secrets: await readSecrets(config), log: createLog("warn", process.stderr) };
      const done = await dryRun({ name: args.name, userId, args: input }, options);
      print(done, () => describe(args.name, done));
      if (done.status !== 200) process.exitCode = 1;
    });
  },
});

function describe(name: string, { status, answer, rows, jobs, messages, refused }: DryRun): string {
  const lines = [
    `${name} would answer ${status}: ${JSON.stringify(answer)}`,
    ...rows.map((row) => `${row.table}: ${row.inserted} inserted, ${row.updated} updated, ${row.deleted} deleted`),
    ...jobs.map((job) => `job ${job.name}, due ${job.due.toISOString()}`),
    ...messages.map((message) => `message ${JSON.stringify(message)}`),
    ...refused.map((effect) => `refused: ${effect}`),
    "Rolled back. Numbers of sequences are used up; what a handler sends by other means than fetch is sent.",
  ];
  return `${lines.map(printable).join("\n")}\n`;
}
