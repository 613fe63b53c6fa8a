/** Builds the application of a documentation page: its snippets in their files, migrated and served. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { loadApp } from "../../src/app/load-app.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker, type Worker } from "../../workers/runner.ts";
import { runHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";
import { snippets } from "./markdown.ts";

/** @param page such as README.md. Migrations that it does not show are generated. Call it at the top of the file */
export function documented(page: string) {
  const db = database("platform");
  // Inside the project, where @svc/core resolves.
  const folder = join(root, ".svc", `${basename(page)}-${process.pid}`);
  let service: Service;
  let begin: () => Worker;
  let worker: Worker | undefined;

  beforeAll(async () => {
    const shown = (await snippets()).filter(({ place }) => place.startsWith(`${page}:`));
    for (const { file, text } of shown) {
      if (!file) continue;
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), text);
      if (file.endsWith(".tsx")) await compile(join(folder, file), text);
    }
    const svc = async (...words: string[]) => {
      const { code, text } = await runHere([...words, "--cwd", folder], {});
      if (code !== 0) throw new Error(text);
    };
    await svc("codegen");
    if (!shown.some(({ file }) => file?.startsWith("migrations/"))) await svc("migrate", "generate");
    await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
    const config = { ...(await loadConfig({ cwd: folder, env: {} })), port: 0 };
    const app = await loadApp(config);
    const options = { app, config, urls: db.urls, secrets: [secret] as [string], log: createLog("silent") };
    service = await startService(options);
    begin = () => startWorker(options);
  });
  afterAll(async () => {
    await worker?.stop();
    await service?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function post(path: string, body: object, token?: string) {
    const headers = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }

  return {
    db,
    folder,
    url: () => service.url,
    post,
    /** Signs a user up. */
    person: async (name: string) => {
      const email = `${name}@example.com`;
      return (await post("/api/auth/sign-up", { email, password: "correct horse", name })).body;
    },
    call: (kind: "query" | "mutation", token: string, name: string, args: object = {}) =>
      post(`/api/${kind}`, { name, args }, token),
    /** Starts a worker, for a page with jobs. */
    startWorker: async () => {
      worker = begin();
      await worker.ready;
    },
    /** Findings of the linter. */
    lint: async () => {
      const admin = await db.connect("admin");
      const { rows } = await admin.query(
        "select rule, name from svc_private.lint_schema() where severity <> 'info' and name not like '%svc.%'",
      );
      return rows;
    },
  };
}

/** Node strips types, but knows no JSX. @param path of the page, beside which its `.js` is written */
async function compile(path: string, text: string): Promise<void> {
  const { transformWithOxc } = await import("vite");
  const { code } = await transformWithOxc(text, path, { jsx: { runtime: "automatic" } });
  await writeFile(path.replace(/tsx$/, "js"), code);
}
