// If this file fails, test files that start at the same moment take each other's databases away.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cloneDatabase } from "../../client/testing/src/template.ts";
import { database } from "../support/database.ts";

const first = database("template1");
const files = [first, database("template1"), database("template1")];
let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "svc-template-"));
  await mkdir(join(cwd, "migrations"));
  await writeFile(join(cwd, "migrations/0001_create_stones.sql"), "create table public.stones (id int);\n");
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

test("logins of several databases build the template of one application at the same moment", async () => {
  const clones = await Promise.all(
    files.map((db) => {
      const login = (name: "request" | "system" | "auth" | "admin" | "replication") => [name, db.url(name)];
      const urls = Object.fromEntries((["request", "system", "auth", "admin", "replication"] as const).map(login));
      return cloneDatabase({ urls, origin: "external" } as never, cwd);
    }),
  );
  const names = clones.map(({ urls }) => new URL(urls.admin).pathname.slice(1));
  const made = await first.sql("select datname::text from pg_database where datname = any($1)", [names]);
  expect(made).toHaveLength(files.length);
  for (const { drop } of clones) await drop();
  const left = await first.sql("select from pg_database where datname like $1", [`svc\\_test\\_${process.pid}\\_%`]);
  expect(left).toEqual([]);
});
