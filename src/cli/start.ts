/** `svc start`: serves the application until it is told to stop. */
import { defineCommand } from "citty";
import { DefinitionError } from "../define/definition-error.ts";
import { migrate, pendingMigrations } from "../postgres/migrate.ts";
import { loadApp } from "../service/load-app.ts";
import { createLog } from "../service/log.ts";
import { prettyLog } from "../service/pretty-log.ts";
import { startService } from "../service/service.ts";
import { cwdArgument, isPart, openDatabase, platformRoot, readConfig, run, say } from "./command.ts";
import { readSecrets } from "./secrets.ts";

export const start = defineCommand({
  meta: { name: "start", description: "Serve the application." },
  args: {
    ...cwdArgument,
    "allow-drift": { type: "boolean", description: "Serve although generated SQL differs.", default: false },
  },
  run: ({ args }) => run(args.cwd, () => serve(args.cwd, args["allow-drift"])),
});

async function serve(cwd: string, allowDrift: boolean): Promise<void> {
  const config = await readConfig(cwd);
  if (config.production && !config.database) {
    throw new DefinitionError("DATABASE_URL is not set.", {
      hint: "Production uses a server that outlives this process; the embedded one is for development.",
    });
  }
  const app = await loadApp(config);
  const cluster = await openDatabase(config);
  try {
    const target = { adminUrl: cluster.urls.admin, platform: platformRoot, application: config.cwd };
    if (config.database) await refusePending(target);
    else await migrateOwn(target);

    const secrets = await readSecrets(config);
    const log = createLog(config.logLevel, process.stdout.isTTY ? prettyLog(process.stdout) : undefined);
    const service = await startService({ app, config, urls: cluster.urls, secrets, log, allowDrift });
    say(`\n  Ready: ${config.auth.url ?? service.url}\n`);
    process.send?.("ready"); // to `svc dev`

    const signal = await nextSignal();
    if (!isPart) say(`${signal}: finishing what is in flight`);
    await service.stop();
  } finally {
    await cluster.stop();
  }
}

async function migrateOwn(target: Parameters<typeof migrate>[0]): Promise<void> {
  const applied = await migrate(target);
  if (applied.length > 0) say(`Brought the database up to date: ${applied.length} files of migrations/ and sql/.`);
}

/** Migrating is the operator's decision there; the embedded cluster belongs to this process. */
async function refusePending(target: Parameters<typeof pendingMigrations>[0]): Promise<void> {
  const pending = await pendingMigrations(target);
  if (pending.length === 0) return;
  throw new DefinitionError(`The database lacks ${pending.length} files:\n  ${pending.join("\n  ")}`, {
    hint: "Run `svc migrate` first.",
  });
}

/** Later ones change nothing: dying in the middle of the end would leave the embedded PostgreSQL running. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => resolve(signal));
  });
}
