/** What the processes run that tests start and kill (`*-child.ts`): a worker or a service, until the test's process ends. */
import { join } from "node:path";
import type { EffectiveConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Api } from "../../src/contract/api.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker, type WorkerOptions } from "../../workers/runner.ts";
import * as fixture from "../fixture/backend/schema.ts";

interface Child {
  api: Api;
  /** (Default: the fixture's) */
  schema?: Record<string, unknown>;
  /** The addresses of the database, by login, as JSON. */
  urls: string;
  secret: string;
}

export const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });

const shared = ({ api, schema = fixture, urls, secret }: Child) => {
  process.on("disconnect", () => process.exit());
  const app = { api, auth: defineAuth({}), schema };
  return { app, config, urls: JSON.parse(urls), secrets: [secret], log: createLog("silent") };
};

/** Takes the queue's jobs. It says over the channel when it is ready. */
export async function work(child: Child, options: Partial<WorkerOptions>): Promise<void> {
  await startWorker({ ...shared(child), ...options }).ready;
  process.send?.("ready");
}

/** @returns where it listens */
export async function serve(
  child: Child,
  changed: Partial<Omit<EffectiveConfig, "limits">> & { limits?: Partial<EffectiveConfig["limits"]> },
): Promise<string> {
  const { limits, ...rest } = changed;
  const { url } = await startService({
    ...shared(child),
    config: { ...config, port: 0, ...rest, limits: { ...config.limits, ...limits } },
    allowDrift: true, // the database has more functions than this application
  });
  return url;
}
