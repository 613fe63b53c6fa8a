// If this file fails, the command line does not tell a DBA what is wrong with the database.
import { spawnSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { fixture, svc, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const lint = (...args: string[]) => svcHere(db, fixture, ["db", "lint", ...args]);
const psql = (...args: string[]) => svc(db, fixture, ["db", "psql", ...args]).ended;

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

const withoutPsql = spawnSync("psql", ["--version"]).error !== undefined;
if (withoutPsql) console.warn("svc db psql is not tested: there is no psql on this machine.");

describe.skipIf(withoutPsql)("svc db psql", () => {
  const mine = "select title || ' by ' || current_user || ' for ' || user_id from notes";
  const ask = (...args: string[]) => psql("-c", mine, ...args, "--", "--tuples-only", "--no-align");

  beforeAll(() =>
    db.sql(`insert into auth."user" (id, name, email) values ('ann o''b', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test');
      insert into notes (user_id, title) values ('ann o''b', 'hers'), ('bob', 'his')`),
  );

  test("shows what a user may see, and no more", async () => {
    const { code, out, error } = await ask("--as", "ann@x.test");
    expect([code, out]).toEqual([0, "hers by svc_authenticated for ann o'b\n"]);
    expect(error).toContain("As user ann o'b, reading only: --write allows changes.");
    expect((await ask("--as", "system")).out).toMatch(/hers by .*\nhis by /);
    const nobody = await ask();
    expect([nobody.code, nobody.error]).toEqual([1, expect.stringContaining("permission denied for table notes")]);
  });

  test("goes back to the user after a reset, and changes nothing unless told to", async () => {
    const update = "reset role; reset svc.user_id; update notes set title = 'changed'";
    const refused = await psql("--as", "bob", "-c", update);
    expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("read-only transaction")]);
    expect((await psql("--as", "bob", "--write", "-c", update)).code).toBe(0);
    expect(await db.sql("select title from notes order by title")).toEqual([{ title: "changed" }, { title: "hers" }]);
  });

  test("says who is unknown, and what to install where there is no psql", async () => {
    expect((await ask("--as", "nobody@x.test")).error).toMatch(/There is no user nobody@x\.test\./);
    const { code, error } = await svc(db, fixture, ["db", "psql"], { PATH: "/nonexistent" }).ended;
    expect([code, error]).toEqual([1, expect.stringMatching(/psql could not be started: .*\s+.*postgresql-client/)]);
  });
});
