/** Serves the application in a folder, whose database has been migrated. */
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Database } from "../support/database.ts";
import { secret } from "../support/service.ts";

/** The caller stops the service. */
export async function serve(folder: string, { urls }: Database, env: Record<string, string> = {}) {
  const config = { ...(await loadConfig({ cwd: folder, env })), port: 0 };
  const app = await loadApp(config);
  const options = { app, config, urls, secrets: [secret] as [string], log: createLog("silent") };
  const service = await startService(options);

  async function post(path: string, body: object, token?: string) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }
  return { options, service, post };
}
