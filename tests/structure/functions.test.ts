// If this file fails, a function that bypasses the policies was added without a reason, or the page that lists the
// functions which requests may execute differs from the database.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { functionsPage } from "../../scripts/functions-page.ts";
import { type DatabaseFunction, listFunctions } from "../../src/postgres/functions.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("platform");
let functions: DatabaseFunction[];
beforeAll(async () => {
  functions = await listFunctions(await db.connect("system"));
});

test("every function that runs with its owner's rights says why, in its comment", () => {
  const definers = functions.filter(({ is_definer }) => is_definer);
  expect(definers.length).toBeGreaterThan(30);
  expect(definers.filter(({ reason }) => (reason ?? "").length < 20).map(({ name }) => name)).toEqual([]);
});

test("no other function claims to", () => {
  expect(functions.filter(({ is_definer, reason }) => !is_definer && reason).map(({ name }) => name)).toEqual([]);
});

test("their owners are svc_owner and the readers", () => {
  const owners = new Set(functions.map(({ owner }) => owner));
  for (const owner of owners)
    expect(["svc_owner", "svc_reader_anonymous", "svc_reader_authenticated"]).toContain(owner);
});

test("sql/_functions.md is the fresh install", async () => {
  expect(await readFile(join(root, "sql/_functions.md"), "utf8")).toBe(functionsPage(functions));
});

describe("the list holds", () => {
  test("whatever PostgreSQL would let a request execute", async () => {
    const client = await db.connect("request");
    const { rows } = await client.query<{ name: string; role: "anonymous" | "authenticated" }>(
      `select p.oid::regprocedure::text as name, role.name as role
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        cross join unnest('{anonymous,authenticated}'::text[]) as role (name)
        where n.nspname in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'public') and p.prorettype <> 'trigger'::regtype
          and has_schema_privilege('svc_' || role.name, n.oid, 'usage')
          and has_function_privilege('svc_' || role.name, p.oid, 'execute')
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`,
    );
    expect(rows.length).toBeGreaterThan(20);
    for (const role of ["anonymous", "authenticated"] as const) {
      const short = (name: string) => name.split("(")[0];
      const listed = functions.filter((one) => one[role]).map(({ name }) => short(name));
      expect(listed.toSorted()).toEqual(
        rows
          .filter((row) => row.role === role)
          .map(({ name }) => short(name))
          .toSorted(),
      );
    }
  });
});
