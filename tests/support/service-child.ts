/**
 * The service in a separate process, for tests that kill it and measure its memory. Arguments: the databases' URLs as
 * JSON, the folder of the bytes, the secret. Reports its address over the channel.
 */
import { join } from "node:path";
import { defineApi } from "../../src/app/api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { crud } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";

const [urls = "{}", dir = "", secret = ""] = process.argv.slice(2);
const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
const { url } = await startService({
  app: { api: defineApi({ procedures: crud }), auth: defineAuth({}), schema },
  config: { ...config, port: 0, storage: { driver: "disk", dir } },
  urls: JSON.parse(urls),
  secrets: [secret],
  log: createLog("silent"),
  allowDrift: true,
});
process.send?.(url);
process.on("disconnect", () => process.exit());
