/**
 * A worker in a separate process, for tests that kill it. Says "ready" over the channel, and takes the jobs of the
 * queue.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineApi } from "../../src/app/api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker } from "../../workers/runner.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";

const [urls = "{}", secret = ""] = process.argv.slice(2);

/** Writes its row in the middle of some work, so that a kill meets jobs before, at and after their row. */
const record = procedure.internal
  .name("child.record")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await sleep(Math.random() * 20);
    await context.db.insert(schema.notes).values({ title: input.title, userId: user.id });
    await context.scheduler.runAfter(86_400_000, "child.record", { title: `follows ${input.title}` });
    await sleep(Math.random() * 20);
  });

const worker = startWorker({
  app: { api: defineApi({ procedures: { record } }), auth: defineAuth({}), schema },
  config: await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} }),
  urls: JSON.parse(urls),
  secrets: [secret],
  log: createLog("silent"),
  rescueEveryMs: 200,
});
await worker.ready;
process.send?.("ready");
process.on("disconnect", () => process.exit());
