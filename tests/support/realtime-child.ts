/**
 * The fixture's service in a separate process, for tests that kill it; with "live" as its last argument, with the queries
 * of `tests/realtime/live-application.ts`. Says its address over the channel.
 */
import { join } from "node:path";
import { defineApi } from "../../src/app/api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { crud } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import * as live from "../realtime/live-application.ts";
import { raisedLimits } from "./limits.ts";

const [urls = "{}", secret = "", port = "0", which] = process.argv.slice(2);
const app =
  which === "live"
    ? { api: defineApi({ procedures: { ...crud, ...live.procedures } }), schema: live.schema }
    : { api: defineApi({ procedures: crud }), schema };
const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
const { url } = await startService({
  app: { ...app, auth: defineAuth({}) },
  config: {
    ...config,
    port: Number(port),
    limits: { ...config.limits, ...raisedLimits },
    // The same for all processes, so that each takes the other's tokens.
    auth: { ...config.auth, url: "http://localhost" },
  },
  urls: JSON.parse(urls),
  secrets: [secret],
  log: createLog("silent"),
});
process.send?.({ url });
process.on("disconnect", () => process.exit());
