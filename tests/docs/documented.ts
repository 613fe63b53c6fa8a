/** Builds the application of a documentation page: its snippets in their files, migrated and served. */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { startWorker, type Worker } from "../../workers/runner.ts";
import { runHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { snippets } from "./markdown.ts";
import { serve } from "./served.ts";

/**
 * Call it at the top of the file.
 *
 * @param page such as README.md. Migrations that it does not show are generated
 * @param edit what the page says to change in the generated migration
 * @param env variables of the service
 */
export function documented(page: string, edit?: (migration: string) => string, env = () => ({})) {
  const db = database("platform");
  // Inside the project, where @svc/core resolves.
  const folder = join(root, ".svc", `${basename(page)}-${process.pid}`);
  let served: Awaited<ReturnType<typeof serve>>;
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
    if (edit) {
      const [file = ""] = (await readdir(join(folder, "migrations"))).filter((name) => name.endsWith(".sql"));
      const path = join(folder, "migrations", file);
      await writeFile(path, edit(await readFile(path, "utf8")));
    }
    await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
    served = await serve(folder, db, env());
    const { options } = served;
    begin = () => startWorker(options);
  });
  afterAll(async () => {
    await worker?.stop();
    await served?.service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const post: typeof served.post = (...call) => served.post(...call);

  return {
    db,
    folder,
    url: () => served.service.url,
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
