/** `svc db seed`: fills a development database with the data of `seed.ts`. Next hop: `src/service/seed.ts`. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { loadApp } from "../../app/load-app.ts";
import type { Seed } from "../../contract/seed.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { runSeed } from "../../service/seed.ts";
import { createLog } from "../../telemetry/log.ts";
import { readConfig, targetOf, withDatabase } from "../command.ts";
import { defineCommand } from "../define.ts";
import { flag, text } from "../options.ts";
import { conclude, during } from "../output.ts";
import { refusePending } from "../pending.ts";
import { readSecrets } from "../read-secrets.ts";

export const command = defineCommand({
  args: { file: text("What to run. (Default: seed.ts in the backend's folder)"), force: flag("Also in production.") },
  run: async (args) => {
    const config = await readConfig(args.cwd);
    if (config.production && !args.force) {
      throw new DefinitionError("Seeding is refused: NODE_ENV is production. Nothing was done.", {
        hint: "Pass --force to seed a production database.",
      });
    }
    const file = args.file ? resolve(config.cwd, args.file) : join(config.rootDir, "seed.ts");
    const seed = await loadSeed(file);
    const app = await loadApp(config);
    await withDatabase(config, { logins: "serving" }, async (cluster) => {
      await refusePending(targetOf(config, cluster.urls.system));
      const secrets = await readSecrets(config);
      const log = createLog("warn", process.stderr);
      await during("Seeding", () => runSeed(seed, { app, config, urls: cluster.urls, secrets, log }));
      conclude({ seeded: file }, `Seeded by ${file}.`);
    });
  },
});

async function loadSeed(file: string): Promise<Seed> {
  if (!existsSync(file)) {
    throw new DefinitionError(`There is no ${file}.`, {
      hint: "Create it with: export default defineSeed(async ({ context, user }) => { … });",
    });
  }
  const { default: seed } = await import(pathToFileURL(file).href);
  if (typeof seed?.["~svc"]?.seed === "function") return seed;
  throw new DefinitionError(`The default export of ${file} is not a seed.`, {
    hint: "Write: export default defineSeed(async ({ context, user }) => { … });",
  });
}
