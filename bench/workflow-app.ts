/** The workflows of `workflows.ts`, for its own worker and for the process that it kills. */
import { join } from "node:path";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { loadConfig } from "../src/config/load-config.ts";
import { defineApi, defineAuth, ownerRls, type Workflow } from "../src/index.ts";
import { createLog } from "../src/telemetry/log.ts";
import { startWorker } from "../workers/runner.ts";

export const table = pgTable("flow_rows", { id: serial("id").primaryKey(), userId: text("user_id").notNull() }, (t) =>
  ownerRls(t.userId),
);
export const user = "bench";

/** The application's directory, with the cluster in it. */
export const directory = join(import.meta.dirname, "app");

export async function startFlows(
  urls: Parameters<typeof startWorker>[0]["urls"],
  workflows: Record<string, Workflow>,
  concurrency: number,
) {
  const worker = startWorker({
    app: { api: defineApi({ workflows }), auth: defineAuth({}), schema: { table } },
    config: await loadConfig({ cwd: directory, env: {} }),
    urls,
    secrets: ["a secret of at least thirty-two characters"],
    log: createLog("silent"),
    concurrency,
    queues: ["workflow"],
  });
  await worker.ready;
  return worker;
}
