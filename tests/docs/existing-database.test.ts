// If this file fails, an application that begins with an existing database by docs/how-to/existing-database.md loses tables,
// rows or users, or opens its rows to strangers.
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hashPassword } from "better-auth/crypto";
import { afterAll, expect, test } from "vitest";
import { runHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { type Snippet, snippets } from "./markdown.ts";
import { serve } from "./served.ts";
import { commandsOf } from "./shell.ts";

const page = "docs/how-to/existing-database.md";
const db = database("platform");
const old = database("template0");
// Inside the project, where @svc/core resolves.
let folder = join(root, ".svc", `existing-database-${process.pid}`);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(file: string, text: string) {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

test("tables, rows and users come along, and policies decide afterwards", async () => {
  const all = (await snippets()).filter(({ place }) => place.startsWith(`${page}:`));
  const tables = all.find(({ language }) => language === "sql")?.text ?? "";
  await old.sql(tables);
  await old.sql(
    "insert into accounts (email, full_name, password) values ('Ann@example.com', 'Ann', $1), ('bob@x.org', null, '-')",
    [await hashPassword("correct horse")],
  );
  await old.sql("insert into projects (owner_id, title, budget) values (1, 'Of Ann', 10.5), (2, 'Of Bob', null)");
  await old.sql("insert into tasks values (1, 2, 'Second', false), (1, 1, 'First', true), (2, 1, 'Hers', false)");

  const shown = all.filter(({ file, language }) => file && language === "ts");
  const [empty, schema, index] = shown as [Snippet, Snippet, Snippet];
  await write("backend/index.ts", empty.text);
  const [pull, copy, users, secure] = await commandsOf(page, runHere);
  const env = {
    OLD_URL: old.url("admin"),
    ...db.environment,
    PATH: `${join(root, "node_modules/.bin")}:${process.env.PATH}`,
  };
  for (const run of [pull, copy, users]) await run?.(folder, env);
  const pulled = await readFile(join(folder, "backend/schema.ts"), "utf8");
  for (const name of ["accounts", "projects", "tasks"]) expect(pulled).toContain(`export const ${name} = pgTable(`);
  await write("backend/schema.ts", schema.text);
  await write("backend/index.ts", index.text);
  // Node keeps modules by their paths, and the schema has changed.
  await rename(folder, `${folder}-secure`);
  folder = `${folder}-secure`;
  const linted = await secure?.(folder, env);
  expect(linted).not.toContain("error");

  const { service, post } = await serve(folder, db);
  try {
    const ann = (await post("/api/auth/sign-in", { email: "ann@example.com", password: "correct horse" })).body;
    expect(ann.user).toMatchObject({ id: "1", email: "ann@example.com", name: "Ann" });
    const query = async (name: string, args: object) => (await post("/api/query", { name, args }, ann.token)).body.json;
    expect((await query("projects.list", {})).data).toMatchObject([
      { id: 1, title: "Of Ann", budget: "10.50", userId: "1" },
    ]);
    expect(await query("projects.tasksOf", { projectId: 1 })).toMatchObject([{ title: "First" }, { title: "Second" }]);
    expect(await query("projects.tasksOf", { projectId: 2 })).toEqual([]);
    const made = await post("/api/mutation", { name: "projects.create", args: { title: "New" } }, ann.token);
    expect(made.body.json).toMatchObject({ id: 3, userId: "1" }); // numbers go on
    expect(await db.sql("select to_regclass('public.accounts') as gone")).toEqual([{ gone: null }]);
  } finally {
    await service.stop();
  }
});
