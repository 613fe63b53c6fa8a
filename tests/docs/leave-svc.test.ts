// If this file fails, somebody who leaves svc by docs/how-to/leave-svc.md loses rows or users, or opens the rows to all.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { documented } from "./documented.ts";
import { type Snippet, snippets } from "./markdown.ts";
import { commandsOf } from "./shell.ts";

const page = "docs/how-to/leave-svc.md";
const { db, person, call } = documented("README.md");
const moved = database("template0");

test("a dump opens elsewhere, and policies and passwords work without svc", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  for (const [{ token }, title] of [
    [ann, "Of Ann"],
    [bob, "Of Bob"],
  ] as const) {
    expect(await call("mutation", token, "tasks.create", { title })).toMatchObject({ status: 200 });
  }
  const file = { user_id: ann.user.id, name: "plan.txt", type: "text/plain" };
  await db.sql(
    "insert into svc.storage_objects (id, user_id, name, size, type, sha256) values (gen_random_uuid(), $1, $2, 4, $3, encode(sha256('plan'), 'hex'))",
    [file.user_id, file.name, file.type],
  );

  const shown = (await snippets()).filter(({ place }) => place.startsWith(`${page}:`));
  const folder = await mkdtemp(join(root, ".svc", "leave-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const { file, text } of shown) if (file) await writeFile(join(folder, file.replace("app/", "")), text);
  // A login of the application's own: the new server does not have it.
  const login = `reports_${process.pid}`;
  await db.sql(`create role ${login}; grant select on tasks to ${login}`);
  onTestFinished(async () => {
    for (const one of [db, moved]) await one.sql(`drop owned by ${login}`);
    await db.sql(`drop role ${login}`);
  });
  const [dump] = await commandsOf(page);
  const urls = { DATABASE_ADMIN_URL: db.url("admin"), NEW_DATABASE_URL: moved.url("admin") };
  // Roles belong to the server: other tests may be migrating databases of it.
  const move = (tries: number): Promise<unknown> | undefined =>
    dump?.(folder, urls)?.catch((error) =>
      tries > 1 && /tuple concurrently updated/.test(error) ? move(tries - 1) : Promise.reject(error),
    );
  await move(10);
  const roles = await readFile(join(folder, "roles.sql"), "utf8");
  for (const name of ["svc_owner", "svc_request", login]) expect(roles).toContain(`create role ${name};`);
  const [list, keep, drop] = shown.filter(({ language }) => language === "sql");

  vi.stubEnv("DATABASE_URL", moved.url("request"));
  onTestFinished(() => void vi.unstubAllEnvs());
  const load = (name: string) => import(/* @vite-ignore */ pathToFileURL(join(folder, name)).href);
  const { asUser, close } = await load("as-user.ts");
  onTestFinished(close);
  const titles = (user: string | null) =>
    asUser(user, async (client: pg.PoolClient) => (await client.query("select title from tasks")).rows);
  const check = async () => {
    expect(await titles(ann.user.id)).toEqual([{ title: "Of Ann" }]);
    expect(await titles(bob.user.id)).toEqual([{ title: "Of Bob" }]);
    await expect(titles(null)).rejects.toMatchObject({ code: "42501" });
    const steal = (client: pg.PoolClient) =>
      client.query("insert into tasks (user_id, title) values ($1, 'x')", [ann.user.id]);
    await expect(asUser(bob.user.id, steal)).rejects.toMatchObject({ code: "42501" });
  };
  await check();
  for (const { text } of [list, keep, drop] as Snippet[]) await moved.sql(text);
  await check();

  expect(await moved.sql("select user_id, name, type from public.files")).toEqual([file]);
  const { isRight } = await load("password.ts");
  const [account] = await moved.sql("select password from auth.account where user_id = $1", [ann.user.id]);
  expect([isRight("correct horse", account?.password), isRight("wrong", account?.password)]).toEqual([true, false]);
  expect(await moved.sql("select nspname from pg_namespace where nspname ~ '^(svc|graphile)'")).toEqual([]);
});
