// If this file fails, the Vue or Svelte of docs/how-to/vue-and-svelte.md does not compile, or shows no changes.
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuthClient, SvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../../examples/desk/web/svc/api.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { snippets } from "../docs/markdown.ts";
import { serve } from "../docs/served.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const run = promisify(execFile);
const db = database("platform");
const desk = join(root, "examples/desk");
// Inside the project, where @svc/client resolves.
const folder = join(root, ".svc", `frameworks-${process.pid}`);
const at = (file: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, file)).href);
let stop: () => Promise<void>;
let auth: AuthClient;
let client: SvcClient<typeof api>;

beforeAll(async () => {
  await migrate({ adminUrl: db.url("admin"), platform: root, application: desk });
  const { service } = await serve(desk, db);
  stop = () => service.stop();
  for (const { place, file, text } of await snippets()) {
    if (!file || !place.startsWith("docs/how-to/vue-and-svelte.md:")) continue;
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    const page = text.replace("./svc/api.ts", "../../../examples/desk/web/svc/api.ts");
    await writeFile(path, page.replace("http://localhost:4000", service.url));
  }
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const options = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
  await run("npm", ["install", "--prefix", folder, ...options, "vue@3", "svelte@5"], { cwd: folder });
  ({ auth, client } = await at("web/client.ts"));
  await auth.signUp("ann@example.com", "correct horse", "Ann");
});
afterAll(async () => {
  client?.close();
  await stop?.();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const add = (title: string) => client.mutate(api.tasks.create, { title });
const titles = (tasks: { title: string }[]) => tasks.map(({ title }) => title);

test("the code of the page type-checks", async () => {
  const config = { extends: "../../tsconfig.json", include: ["web"], exclude: [] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  await run(join(root, "node_modules/.bin/tsc"), ["--noEmit", "-p", folder]).catch(({ stdout }) =>
    expect(stdout).toBe(""),
  );
});

test("a composable of Vue follows the rows and the user, until its component is gone", async () => {
  const { effectScope } = createRequire(join(folder, "package.json"))("vue");
  const { useTasks, useUser } = await at("web/vue.ts");
  const scope = effectScope();
  const { tasks, user } = scope.run(() => ({ ...useTasks(), user: useUser() }));
  expect(user.value.name).toBe("Ann");
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await add("of Vue");
  await expect.poll(() => titles(tasks.value)).toEqual(["of Vue"]);
  scope.stop();
  await expect.poll(() => client.realtime.getStatus()).toBe("idle");
});

test("stores of Svelte follow the rows and the user, while a component reads them", async () => {
  const { tasks, user } = await at("web/svelte.ts");
  let shown: string[] = [];
  let name: string | undefined;
  const ends = [
    tasks.subscribe((rows: { title: string }[]) => (shown = titles(rows))),
    user.subscribe((one: { name: string } | null) => (name = one?.name)),
  ];
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await add("of Svelte");
  await expect.poll(() => shown).toContain("of Svelte");
  expect(name).toBe("Ann");
  await auth.signOut();
  expect(name).toBeUndefined();
  for (const end of ends) end();
  await expect.poll(() => client.realtime.getStatus()).toBe("idle");
});
