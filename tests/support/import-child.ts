/** A worker in a separate process that kills itself, as kill -9 does, right before or right behind the n-th batch of an import. */
import { join } from "node:path";
import pg from "pg";
import { defineApi } from "../../src/app/api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker } from "../../workers/runner.ts";
import * as schema from "../fixture/backend/schema.ts";
import { procedures } from "../transfer/entries.ts";

const [urls = "{}", secret = "", where = "", at = "0"] = process.argv.slice(2);

/** The statement of a batch, and the statement of its checkpoint: the batch is written, and not yet committed. */
const statement = { before: "svc.record_step", behind: "svc.import_rows" }[where];
let met = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const config = given[0] as { text?: string } | string;
  const text = typeof config === "string" ? config : (config.text ?? "");
  if (statement && text.includes(statement) && ++met === Number(at)) process.kill(process.pid, "SIGKILL");
  return (query as (...all: unknown[]) => unknown).apply(this, given);
} as typeof query;

const worker = startWorker({
  app: { api: defineApi({ procedures }), auth: defineAuth({}), schema },
  config: await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} }),
  urls: JSON.parse(urls),
  secrets: [secret],
  log: createLog("silent"),
  rescueEveryMs: 100,
  queues: ["workflow"],
});
await worker.ready;
process.send?.("ready");
process.on("disconnect", () => process.exit());
