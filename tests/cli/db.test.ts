// If this file fails, the command line does not tell a DBA what is wrong with the database.
import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { libpqTarget } from "../../src/cluster/libpq.ts";
import { fixture, type Part, svcAll, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const bare = database("platform");
const lint = (...args: string[]) => svcHere(db, fixture, ["db", "lint", ...args]);

test("svc db lint lists what it finds, the worst first, and fails for errors", async () => {
  const { code, out, error } = await lint("--level", "warning");
  expect(code).toBe(0);
  expect(out).toMatch(
    /^warning {2}all_anyone on public.guestbook lets .* any row\.\n {2}Compare .*\n {2}rule: always_true_policy\n/m,
  );
  expect(out).not.toContain("info");
  expect(error).toMatch(/0 errors, \d+ warnings?, \d+ hints?\.\nTo allow a finding, write in a comment/);
  expect((await lint("--strict")).code).toBe(1);

  await db.sql("alter table guestbook disable row level security");
  const failed = await lint("--json");
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.out)[0]).toEqual({
    severity: "error",
    rule: "policy_without_rls",
    name: "public.guestbook",
    problem: "has policies, and row-level security is off: they do nothing",
    remedy: "alter table public.guestbook enable row level security;",
  });
});

test("svc db lint refuses a severity that there is not", async () => {
  const { code, error } = await lint("--level", "fatal");
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/--level fatal is unknown\.\s+There are: error, warning, info\./),
  ]);
});

test("commands that look at the database say that it was never migrated", async () => {
  await bare.sql("drop schema svc_private cascade");
  for (const words of [
    ["db", "lint"],
    ["policies"],
    ["jobs", "list"],
    ["rls", "explain", "notes"],
    ["dry-run", "notes.list"],
  ]) {
    const { code, error } = await svcHere(bare, fixture, words);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/This database was never migrated\.\n {2}Run svc migrate first\.\n$/),
    ]);
  }
});

test("the programs of PostgreSQL get what they know of a URL, and no password", () => {
  const { dbname, env } = libpqTarget(
    "postgres://me:p%40ss@[::1]:5433/db?sslmode=no-verify&options=-c%20role%3Da+b&ssl=1",
  );
  expect([dbname, env]).toEqual([
    "postgres://me@[::1]:5433/db?sslmode=require&options=-c%20role%3Da%20b",
    { PGPASSWORD: "p@ss" },
  ]);
  expect(libpqTarget("postgres://me@host/db?password=old&password=secret&ssl=true")).toEqual({
    dbname: "postgres://me@host/db?sslmode=require",
    env: { PGPASSWORD: "secret" },
  });
});

test("they trust the authorities that Node trusts, unless the URL names others", () => {
  vi.stubEnv("PGSSLROOTCERT", "/ca.pem");
  const of = (query: string) => libpqTarget(`postgres://me@host/db?${query}`).dbname;
  expect(of("sslmode=verify-full")).toBe("postgres://me@host/db?sslmode=verify-full&sslrootcert=%2Fca.pem");
  expect(of("sslmode=verify-full&sslrootcert=/own.pem")).toContain("sslrootcert=%2Fown.pem");
  expect(of("sslmode=require")).toBe("postgres://me@host/db?sslmode=require");
  vi.unstubAllEnvs();
});

test("a URL that the driver would read as that of another database reaches no program", () => {
  expect(() => libpqTarget("postgres://me@host/db?dbname=other")).toThrow(/dbname .* Write postgres:/);
});

const withoutPsql = spawnSync("psql", ["--version"]).error !== undefined;
if (withoutPsql) console.warn("svc db psql is not tested: there is no psql on this machine.");

describe.skipIf(withoutPsql)("svc db psql", () => {
  const mine = "select title || ' by ' || current_user || ' for ' || user_id from notes";
  const update = "reset role; reset svc.user_id; update notes set title = 'changed'";
  const ask = (...args: string[]) => ["-c", mine, ...args, "--", "--tuples-only", "--no-align"];
  let [asAnn, asSystem, asNobody, refused, changed, otherwise]: (Part | undefined)[] = [];

  beforeAll(async () => {
    await db.sql(`insert into auth."user" (id, name, email) values ('ann o''b', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test');
      insert into notes (user_id, title) values ('ann o''b', 'hers'), ('bob', 'his')`);
    const all = [
      ask("--as", "ann@x.test"),
      ask("--as", "system"),
      ask(),
      ["--as", "bob", "-c", update],
      ["--as", "bob", "--write", "-c", update],
    ];
    const { ended } = svcAll(
      db,
      all.map((args) => ["db", "psql", "--cwd", fixture, ...args]),
    );
    [asAnn, asSystem, asNobody, refused, changed] = await ended;
    const url = new URL(db.urls.request);
    url.search = `?uselibpqcompat=true&sslmode=disable&statement_timeout=9000&pgbouncer=true&password=${url.password}`;
    url.password = "";
    const words = ["db", "psql", "--cwd", fixture, "-c", "select 'connected'", "--", "-At"];
    [otherwise] = await svcAll(db, [words], { DATABASE_URL: url.href }).ended;
  });

  test("connects by a URL with parameters that only the driver has", () => {
    expect(otherwise).toMatchObject({ code: 0, out: "connected\n" });
  });

  test("shows what a user may see, and no more", () => {
    expect(asAnn).toMatchObject({ code: 0, out: "hers by svc_authenticated for ann o'b\n" });
    expect(asAnn?.error).toContain("As user ann o'b, reading only: --write allows changes.");
    expect(asSystem?.out).toMatch(/hers by .*\nhis by /);
    expect(asNobody).toMatchObject({ code: 1, error: expect.stringContaining("permission denied for table notes") });
  });

  test("goes back to the user after a reset, and changes nothing unless told to", async () => {
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining("read-only transaction") });
    expect(changed?.code).toBe(0);
    expect(await db.sql("select title from notes order by title")).toEqual([{ title: "changed" }, { title: "hers" }]);
  });

  test("says who is unknown, and what to install where there is no psql", async () => {
    expect((await svcHere(db, fixture, ["db", "psql", "--as", "nobody@x.test"])).error).toMatch(
      /There is no user nobody@x\.test\./,
    );
    const { code, error } = await svcHere(db, fixture, ["db", "psql"], { PATH: "/nonexistent" });
    expect([code, error]).toEqual([1, expect.stringMatching(/psql could not be started: .*\s+.*postgresql-client/)]);
  });
});
