// If this file fails, sql/ and migrations/ no longer show a DBA all code that runs in the database.
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { crudFunctions } from "../../src/crud/crud-sql.ts";
import api from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const platform = ["svc", "svc_hidden", "svc_private", "auth"];

const files = async (folder: string, ending: string) => {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
};

describe("every function of the platform", () => {
  test("has a file of its own in sql/, named as the function", async () => {
    const named = (await files("sql", ".sql")).map((file) => basename(file, ".sql"));
    const functions = await db.sql<{ name: string }>(
      `select distinct proname::text as name from pg_proc where pronamespace = any ($1::regnamespace[]) order by 1`,
      [platform],
    );
    expect(functions.length).toBeGreaterThan(3);
    expect(functions.map(({ name }) => name).filter((name) => !named.includes(name))).toEqual([]);
  });

  test("is called where its header says", async () => {
    const wrong: string[] = [];
    const functions = (await files("sql", ".sql")).filter((file) => dirname(relative(root, file)) !== "sql");
    for (const file of functions) {
      const name = basename(file, ".sql");
      const [header = ""] = (await readFile(file, "utf8")).split(/^create /m);
      const prose = header.replace(/\s*\n-- ?/g, " ");
      for (const [said] of prose.matchAll(/\b[Cc]alled (by|where|when) .*?(?=[.:] |$)/g)) {
        const inSql = [...said.matchAll(/\b(?:svc|svc_hidden|svc_private|auth)\.(\w+)/g)].map(([, caller]) => caller);
        const callers = [
          ...[...said.matchAll(/\b(?:src|workers)\/[\w/-]+\.ts/g)].map(([path]) => join(root, path)),
          ...functions.filter((path) => inSql.includes(basename(path, ".sql"))),
        ];
        for (const caller of callers) {
          const text = await readFile(caller, "utf8").catch(() => "");
          if (!new RegExp(`\\b${name}\\b`).test(text)) wrong.push(`${name}: ${relative(root, caller)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  test("finds the rows that it locks once: IN may find them again for each row of the table", async () => {
    const within = String.raw`(?:[^()]|\((?:[^()]|\([^()]*\))*\))*`;
    const locking = new RegExp(String.raw`\bin\s*\(\s*select\b${within}\bfor\s+(?:no key )?update\b`);
    const found: string[] = [];
    for (const file of await files("sql", ".sql")) {
      const name = basename(file, ".sql");
      if (name !== "schema.dump" && locking.test((await readFile(file, "utf8")).replace(/--.*$/gm, "")))
        found.push(name);
    }
    expect(found).toEqual(["claim_job"]); // of queues with names, which svc does not use
  });

  test("has a comment, and PUBLIC may not execute it", async () => {
    const wrong = await db.sql(
      `select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = any ($1::regnamespace[])
          and (obj_description(p.oid, 'pg_proc') is null or has_function_privilege('public', p.oid, 'execute'))`,
      [platform],
    );
    expect(wrong).toEqual([]);
  });

  test("that goes without search_path to be inlined is inlined", async () => {
    const found = await db.sql<{ name: string; call: string }>(
      `select p.proname as name, format(case when p.proretset then 'select * from %1$s(%2$s)' else
          'select %1$s(%3$s) from (select %4$s offset 0) x' end, p.oid::regproc, a.nulls, a.names, a.columns) as call
         from pg_proc p
        cross join lateral (
          select coalesce(string_agg('null::' || format_type(t.type, null), ', ' order by t.at), '') as nulls,
                 coalesce(string_agg('x.a' || t.at, ', ' order by t.at), '') as names,
                 coalesce(string_agg(format('null::%s as a%s', format_type(t.type, null), t.at), ', ' order by t.at), '') as columns
            from unnest(p.proargtypes) with ordinality t (type, at)) a
        where obj_description(p.oid, 'pg_proc') like '%prevent inlining%'`,
    );
    expect(found.length).toBeGreaterThan(10);
    const called: string[] = [];
    for (const { name, call } of found) {
      const plan = await db.sql(`explain (verbose) ${call}`);
      if (JSON.stringify(plan).includes(`${name}(`)) called.push(name);
    }
    expect(called).toEqual([]);
  });

  test("that disables a kind of scan does not compile the plan, whose estimated cost is huge by that", async () => {
    const found = await db.sql<{ name: string; compiles: boolean }>(
      `select p.oid::regprocedure::text as name, not 'jit=off' = any (p.proconfig) as compiles from pg_proc p
        where p.pronamespace <> 'pg_catalog'::regnamespace
          and exists (select from unnest(p.proconfig) c where c like 'enable\\_%=off')`,
    );
    expect(found.length).toBeGreaterThan(2);
    expect(found.filter(({ compiles }) => compiles)).toEqual([]);
  });

  test("that runs with its owner's rights fixes its search_path", async () => {
    const wrong = await db.sql(
      `select p.oid::regprocedure::text from pg_proc p
        where p.pronamespace = any ($1::regnamespace[]) and p.prosecdef
          and not exists (select from unnest(p.proconfig) c where c like 'search_path=%')`,
      [platform],
    );
    expect(wrong).toEqual([]);
  });
});

describe("every table of the platform", () => {
  test("has row-level security and a comment, and gives request roles no TRUNCATE or REFERENCES", async () => {
    const wrong = await db.sql(
      `select c.oid::regclass::text from pg_class c
        where c.relnamespace = any ($1::regnamespace[]) and c.relkind in ('r', 'p')
          and (not c.relrowsecurity or obj_description(c.oid, 'pg_class') is null
            or has_table_privilege('svc_authenticated', c.oid, 'truncate, references, trigger')
            or has_table_privilege('svc_anonymous', c.oid, 'truncate, references, trigger'))`,
      [platform],
    );
    expect(wrong).toEqual([]);
  });

  test("has its policies in sql/policies/, in a file named as the table", async () => {
    const named = (await files("sql/policies", ".sql")).map((file) => basename(file, ".sql"));
    const tables = await db.sql<{ name: string }>(
      `select distinct format('%s.%s', schemaname, tablename) as name from pg_policies where schemaname = any ($1)`,
      [platform],
    );
    expect(tables.map(({ name }) => name).sort()).toEqual(named.sort());
  });
});

test("no policy asks for the identity row by row", async () => {
  const policies = await db.sql<{ name: string; text: string }>(
    `select format('%s on %s', policyname, tablename) as name, concat(qual, ' ', with_check) as text from pg_policies`,
  );
  const unwrapped = policies.filter(({ text }) =>
    text.replace(/\( SELECT svc\.current_user_id\(\) AS current_user_id\)/g, "").includes("current_user_id"),
  );
  expect(policies.length).toBeGreaterThan(5);
  expect(unwrapped.map(({ name }) => name)).toEqual([]);
});

describe("a generated procedure is three hops from its SQL function", () => {
  const generated = [...api["~svc"].procedures.values()].filter(({ name }) => !name.startsWith("workflows."));
  test.for(generated.map((procedure) => ({ name: procedure.name, procedure })))("$name", async ({ procedure }) => {
    const name = procedure.statement?.function;
    const signature = api["~svc"].crud
      .flatMap(crudFunctions)
      .find((one) => one.signature.startsWith(`svc_crud.${name}(`));
    const [row] = await db.sql("select to_regprocedure($1) is not null as exists", [signature?.signature]);
    expect(row?.exists).toBe(true);
  });
});

test("TypeScript creates nothing in the database: definitions stand in sql/ and migrations/", async () => {
  const sources = (await files("src", ".ts")).filter(
    // Files that write an application's SQL, and files that set up a server.
    (file) =>
      !/\/(codegen|cluster|migrate\/(generate|pull))\/|\/crud\/crud-(sql|writes|text)\.ts$|-sql\.ts$/.test(file),
  );
  const definitions = /\b(create|alter|drop)\s+(or\s+replace\s+)?(table|function|policy|view|index|trigger)\b/i;
  const wrong: string[] = [];
  for (const file of sources) {
    const code = (await readFile(file, "utf8")).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (definitions.test(code)) wrong.push(file);
  }
  expect(wrong).toEqual([]);
});

/**
 * Statements that cannot be in a function: before sql/ is applied there are none, or the database may have another
 * version.
 */
const statementsAllowed: Record<string, string> = {
  "src/jobs/queue.ts": "the library's ledger is read before its schema is complete",
  "src/migrate/ledger.ts": "the ledger is read before sql/ is applied",
  "src/migrate/migrate.ts": "the ledger is written while sql/ is applied",
  "src/backup/restore.ts": "the restored database may have the functions of an older version",
};

test("TypeScript has no statement on a table of the platform: functions in sql/ read and write them", async () => {
  const tables = await db.sql<{ schema: string; name: string }>(
    `select n.nspname::text as schema, c.relname::text as name
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any ($1) and c.relkind in ('r', 'p')`,
    [[...platform, "graphile_worker"]],
  );
  const names = tables.map(({ schema, name }) => `"?${schema}"?\\."?${name}"?`).join("|");
  const statement = new RegExp(`\\b(from|join|into|update|only|table|truncate)\\s+(?:${names})(?![\\w"(])`, "i");
  const found: string[] = [];
  for (const file of [...(await files("src", ".ts")), ...(await files("workers", ".ts"))]) {
    const code = (await readFile(file, "utf8")).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    if (statement.test(code)) found.push(relative(root, file));
  }
  expect(tables.length).toBeGreaterThan(20);
  expect(found.sort()).toEqual(Object.keys(statementsAllowed).sort());
});

test("every source file begins by saying what it is for", async () => {
  const sources = [
    ...(await files("src", ".ts")),
    ...(await files("sql", ".sql")),
    ...(await files("migrations", ".sql")),
  ];
  const silent: string[] = [];
  for (const file of sources) {
    const text = (await readFile(file, "utf8")).replace(/^#!.*\n/, "");
    if (!/^(\/\*\*|--)/.test(text)) silent.push(file);
  }
  expect(silent).toEqual([]);
});
