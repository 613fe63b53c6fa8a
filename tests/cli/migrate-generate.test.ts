// If this file fails, an author cannot get from a schema to a running application without writing SQL by hand.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/define/load-config.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { loadApp } from "../../src/service/load-app.ts";
import { createLog } from "../../src/service/log.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { leavePlatform } from "../codegen/evolution.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { secret } from "../support/service.ts";

const db = database();
const folders: string[] = [];
let app: string;

beforeAll(async () => {
  await leavePlatform(db);
  app = await folder("generate", { "backend/schema.ts": schema, "backend/auth.ts": auth, "backend/index.ts": index });
});
afterAll(() => Promise.all(folders.map((path) => rm(path, { recursive: true, force: true }))));

const schema = `
import { openRls, ownerRls } from "@svc/core";
import { boolean, integer, pgSchema, pgTable, serial, text, timestamp, uuid } from "drizzle-orm/pg-core";
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
export const user = pgSchema("auth").table("user", { id: text("id").primaryKey() });
export const tasks = pgTable("tasks", {
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  title: text("title").notNull(),
  done: boolean("done").notNull().default(false),
  priority: integer("priority").notNull().default(0),
  createdAt: instant("created_at"),
  updatedAt: instant("updated_at"),
}, (t) => ownerRls(t.userId));
export const articles = pgTable("articles", {
  id: uuid("id").primaryKey().defaultRandom(),
  userId: text("user_id").notNull(),
  title: text("title").notNull(),
  body: text("body").notNull(),
  createdAt: instant("created_at"),
}, (t) => ownerRls(t.userId, { read: "public" }));
export const guestbook = pgTable("guestbook", {
  id: serial("id").primaryKey(),
  message: text("message").notNull(),
  createdAt: instant("created_at"),
}, () => openRls({ read: "anyone", write: "anyone" }));
`;
const auth = `
import { defineAuth } from "@svc/core";
export default defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
`;
const index = `
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "@svc/core";
import * as schema from "./schema.ts";
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>());
export default defineApi({ procedures: {
  tasks: createCrud(schema.tasks),
  articles: createCrud(schema.articles, { allowAnonymous: true }),
  guestbook: createCrud(schema.guestbook, { allowAnonymous: true }),
} });
`;

/** A folder inside the project, where @svc/core resolves. */
async function folder(name: string, files: Record<string, string>): Promise<string> {
  await mkdir(join(root, ".svc"), { recursive: true });
  const path = await mkdtemp(join(root, `.svc/${name}-`));
  folders.push(path);
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(path, file, ".."), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
}

/** Runs `svc` without a terminal and with standard input closed: a question would find nobody. */
async function svc(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(root, "src/cli/svc.ts"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, output })));
}

const files = async (path: string) => (await readdir(join(path, "migrations"), { recursive: true })).sort();

/** A copy of the application with its first migration, whose schema then changes. */
async function changed(change: (schema: string) => string): Promise<string> {
  const path = await folder("changed", {});
  await cp(app, path, { recursive: true });
  await writeFile(join(path, "backend/schema.ts"), change(schema));
  return path;
}

test("generate writes the first migration and its snapshot, without a database", async () => {
  const { code, output } = await svc("migrate", "generate", "--name", "Create the desk", "--cwd", app);
  expect(code, output).toBe(0);
  expect(output).toContain("wrote migrations/0001_create_the_desk.sql");
  expect(await files(app)).toEqual(["0001_create_the_desk.sql", "meta", "meta/0001_snapshot.json"]);
  const text = await readFile(join(app, "migrations/0001_create_the_desk.sql"), "utf8");
  expect(text).toMatch(/^-- Generated by `svc migrate generate`/);
  expect(text).toContain(`REFERENCES "auth"."user"("id")`);
  expect(text).not.toMatch(/CREATE (SCHEMA|ROLE|TABLE "auth")/);
  expect(text.search(/^grant /m)).toBeGreaterThan(text.lastIndexOf("create policy"));
});

test("a second generate writes nothing and says so, wherever --cwd stands", async () => {
  for (const args of [
    ["migrate", "generate", "--cwd", app],
    ["migrate", "--cwd", app, "generate"],
  ]) {
    expect(await svc(...args)).toEqual({ code: 0, output: "Nothing to generate.\n" });
  }
  expect(await files(app)).toHaveLength(3);
});

describe("on the generated tables", () => {
  let service: Service;
  const tokens: Record<string, string> = {};

  beforeAll(async () => {
    const generated = await svc("codegen", "--cwd", app);
    expect(generated.code, generated.output).toBe(0);
    await migrate({ adminUrl: db.url("admin"), platform: root, application: app });
    const config = { ...(await loadConfig({ cwd: app, env: {} })), port: 0 };
    const log = createLog("silent");
    service = await startService({ app: await loadApp(config), config, urls: db.urls, secrets: [secret], log });
    for (const name of ["ann", "bob"]) {
      const { body } = await post("/api/auth/sign-up", {
        email: `${name}@example.com`,
        password: "correct horse",
        name,
      });
      tokens[name] = body.token;
    }
  });
  afterAll(() => service?.stop());

  async function post(path: string, body: unknown, as?: string) {
    const headers = { "content-type": "application/json", ...(as && { authorization: `Bearer ${tokens[as]}` }) };
    const response = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    // biome-ignore lint/suspicious/noExplicitAny: bodies of many shapes
    return { status: response.status, body: (await response.json()) as any };
  }
  const query = (name: string, args: unknown, as?: string) => post("/api/query", { name, args }, as);
  const mutate = (name: string, args: unknown, as?: string) => post("/api/mutation", { name, args }, as);
  const result = ({ body }: { body: { json?: unknown } }) => body.json as { id: number; data: object[]; total: number };

  test("the owner creates, reads, changes and removes; others and the anonymous do not", async () => {
    const created = await mutate("tasks.create", { title: "Write", priority: 2 }, "ann");
    expect(created.status, JSON.stringify(created.body)).toBe(200);
    const { id } = result(created);
    expect(result(await query("tasks.list", {}, "ann")).total).toBe(1);
    expect(result(await query("tasks.list", {}, "bob")).total).toBe(0);
    expect((await query("tasks.list", {})).status).toBe(401);
    expect((await mutate("tasks.update", { id, done: true }, "bob")).status).toBe(404);
    expect(result(await mutate("tasks.update", { id, done: true }, "ann"))).toMatchObject({ id, done: true });
    expect((await mutate("tasks.remove", { id }, "bob")).status).toBe(404);
    expect((await mutate("tasks.remove", { id }, "ann")).status).toBe(200);
  });

  test("what everybody may read is read by everybody, and written by the owner", async () => {
    const { id } = result(await mutate("articles.create", { title: "News", body: "None" }, "ann"));
    expect(result(await query("articles.list", {})).data).toMatchObject([{ id, title: "News" }]);
    expect((await mutate("articles.update", { id, title: "Mine" }, "bob")).status).toBe(404);
    expect((await mutate("articles.update", { id, title: "Old" }, "ann")).status).toBe(200);
    expect((await mutate("articles.create", { title: "a", body: "b" })).status).toBeGreaterThanOrEqual(400);
  });

  test("the anonymous sign the guest book", async () => {
    const { id } = result(await mutate("guestbook.create", { message: "hello" }));
    expect(result(await mutate("guestbook.update", { id, message: "hi" }))).toMatchObject({ message: "hi" });
    expect((await mutate("guestbook.remove", { id })).status).toBe(200);
  });

  test("nobody writes an id, an owner or a time of creation, even past the generated functions", async () => {
    const client = await db.connect("request");
    const denied = "permission denied";
    await client.query("set role svc_authenticated");
    await expect(client.query("update tasks set user_id = 'bob'")).rejects.toThrow(denied);
    await expect(client.query("update tasks set id = 7")).rejects.toThrow(denied);
    await expect(client.query("insert into tasks (id, user_id, title) values (1, 'a', 'b')")).rejects.toThrow(denied);
    await expect(client.query("insert into tasks (user_id, created_at) values ('a', now())")).rejects.toThrow(denied);
  });

  test("the additional user field is there, with its default", async () => {
    expect(await db.sql(`select distinct role from auth."user"`)).toEqual([{ role: "member" }]);
  });
});

describe("what might be a rename", () => {
  const rename = (schema: string) => schema.replace('title: text("title")', 'heading: text("heading")');

  test("is refused, naming both ways out, and nothing is written", async () => {
    const path = await changed(rename);
    const { code, output } = await svc("migrate", "generate", "--cwd", path);
    expect(code).toBe(1);
    expect(output).toContain("column: tasks.title is gone, tasks.heading new.");
    expect(output).toContain("--rename tasks.title:tasks.heading");
    expect(output).toContain("--drop tasks.title");
    expect(await files(path)).toHaveLength(3);
  });

  test("keeps its data with --rename", async () => {
    const path = await changed(rename);
    const { code, output } = await svc("migrate", "generate", "--cwd", path, "--rename", "tasks.title:tasks.heading");
    expect(code, output).toBe(0);
    await db.sql(`insert into tasks (user_id, title) select id, 'kept' from auth."user" limit 1`);
    await migrate({ adminUrl: db.url("admin"), platform: root, application: path });
    expect(await db.sql("select heading from tasks")).toEqual([{ heading: "kept" }]);
  });

  test("is dropped with --drop, under a line that says what is lost", async () => {
    const path = await changed(rename);
    expect((await svc("migrate", "generate", "--cwd", path, "--drop", "tasks.title")).code).toBe(0);
    const text = await readFile(join(path, "migrations/0002_change_tasks.sql"), "utf8");
    expect(text).toContain(`-- Loses what every row of tasks has in title.\nALTER TABLE "tasks" DROP COLUMN "title";`);
  });

  test.each([["tables", (text: string) => text.replace('pgTable("tasks"', 'pgTable("todos"'), "--rename tasks:todos"]])(
    "of %s is refused too",
    async (_kind, change, candidate) => {
      const { code, output } = await svc("migrate", "generate", "--cwd", await changed(change));
      expect(code).toBe(1);
      expect(output).toContain(candidate);
    },
  );

  test("that is not one is refused, naming what is gone and new", async () => {
    const path = await changed(rename);
    const { code, output } = await svc("migrate", "generate", "--cwd", path, "--rename", "tasks.name:tasks.heading");
    expect(code).toBe(1);
    expect(output).toContain("Gone: tasks.title. New: tasks.heading.");
  });
});

describe("generate refuses", () => {
  test("a schema file that is not there, instead of dropping every table", async () => {
    const path = await changed((text) => text);
    await rm(join(path, "backend/schema.ts"));
    const { code, output } = await svc("migrate", "generate", "--cwd", path);
    expect(code).toBe(1);
    expect(output).toContain("every table would seem to be gone");
  });

  test("a role that a migration would have to create", async () => {
    const path = await changed(
      (text) => `${text}
      import { pgRole } from "drizzle-orm/pg-core";
      export const staff = pgRole("staff");`,
    );
    const { code, output } = await svc("migrate", "generate", "--cwd", path);
    expect(code).toBe(1);
    expect(output).toContain('pgRole("staff").existing()');
  });

  test("hand-written migrations without a baseline, and goes on from one", async () => {
    const path = await folder("desk", {});
    for (const part of ["backend", "migrations", "svc.config.ts"]) {
      await cp(join(root, "examples/desk", part), join(path, part), { recursive: true });
    }
    await rm(join(path, "migrations/meta"), { recursive: true, force: true });
    const refused = await svc("migrate", "generate", "--cwd", path);
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("svc migrate generate --baseline");

    const sql = (await files(path)).filter((file) => file.endsWith(".sql"));
    const baseline = await svc("migrate", "generate", "--baseline", "--cwd", path);
    expect(baseline.code, baseline.output).toBe(0);
    expect((await files(path)).filter((file) => file.endsWith(".sql"))).toEqual(sql);
    expect((await svc("migrate", "generate", "--cwd", path)).output).toBe("Nothing to generate.\n");
    expect((await svc("migrate", "generate", "--baseline", "--cwd", path)).code).toBe(1);
  });
});
