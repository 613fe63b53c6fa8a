// If this file fails, svc depends on a setting that a DBA may change for a server or a database.
import pg from "pg";
import { beforeAll, expect, inject, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { databaseError, isConnectionLoss, mayHaveRun } from "../../src/postgres/errors.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { maintain } from "../support/admin.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";
import { until } from "../support/worker.ts";

const unusual = {
  timezone: "Asia/Kolkata",
  datestyle: "German, DMY",
  intervalstyle: "sql_standard",
  bytea_output: "escape",
  extra_float_digits: "-15",
  xmlbinary: "hex",
  array_nulls: "off",
  standard_conforming_strings: "off",
  escape_string_warning: "off",
  quote_all_identifiers: "on",
  transform_null_equals: "on",
  row_security: "off",
  search_path: "other, public",
  "plpgsql.variable_conflict": "use_column",
  default_text_search_config: "pg_catalog.german",
  default_transaction_isolation: "repeatable read",
  plan_cache_mode: "force_generic_plan",
};

const db = database();
beforeAll(async () => {
  for (const [name, value] of Object.entries(unusual)) {
    await maintain(inject("urls").admin, `alter database ${db.name} set ${name} = '${value}'`);
  }
});

test("a service signs in, writes and reads what it reads elsewhere", async () => {
  const svc = new TestService(db, apiWith(), {});
  await svc.start();
  try {
    const ann = await svc.signUp("ann");
    const article = {
      title: "Größe 'a' \\ b",
      price: "12.50",
      publishedAt: "2026-02-03T04:05:06.789123+00:00",
      day: "2026-02-03",
    };
    const { body, status } = await svc.mutate(ann, "articles.create", article);
    expect([status, body]).toEqual([200, { json: expect.objectContaining(article) }]);
    const filters = { publishedAt: { op: "gt", value: "2026-02-03" }, day: "2026-02-03", title: article.title };
    const found = await svc.query(ann, "articles.list", { filters, search: "größe" });
    expect(found.body.json).toEqual({ total: 1, data: [body.json] });
    const { id, updatedAt } = body.json;
    const changed = await svc.mutate(ann, "articles.update", { id, title: "b", ifUnmodifiedSince: updatedAt });
    expect([changed.status, changed.body.json?.title]).toEqual([200, "b"]);
    expect((await svc.query(null, "articles.list", { filters })).body.json.data).toEqual([]);
  } finally {
    await svc.stop();
  }
});

test("a sign-in that waits for another one of the same account succeeds", async () => {
  const svc = new TestService(db, apiWith(), {});
  await svc.start();
  try {
    const { email } = await svc.signUp("bob");
    const signIn = (password: string) => svc.post("/api/auth/sign-in", { email, password });
    expect((await signIn("a wrong password")).status).toBe(401);
    const other = await db.connect("admin");
    await other.query("begin; update auth.attempt set count = count");
    const waiting = signIn("correct horse");
    await until(async () => (await db.sql("select from pg_locks where not granted")).length > 0);
    await other.query("commit");
    expect((await waiting).status).toBe(200);
  } finally {
    await svc.stop();
  }
});

test("two migrations at once leave one result, and the database has not drifted", async () => {
  const once = () => migrate({ adminUrl: db.url("admin"), platform: root, application: fixture, again: true });
  await Promise.all([once(), once()]);
  const { code, text } = await svcHere(db, fixture, ["db", "drift"]);
  expect([code, text]).toEqual([0, "No drift: the database matches the files.\n"]);
});

test("sessions of svc's logins may be idle, also where others may not", async () => {
  await maintain(inject("urls").admin, `alter database ${db.name} set idle_session_timeout = '1s'`);
  try {
    for (const login of ["request", "system", "auth", "replication"] as const) {
      const client = await db.connect(login);
      expect((await client.query("show idle_session_timeout")).rows).toEqual([{ idle_session_timeout: "0" }]);
    }
  } finally {
    await maintain(inject("urls").admin, `alter database ${db.name} reset idle_session_timeout`);
  }
});

test("what a DBA's limits on sessions end is known: nothing was committed", () => {
  const ended = (code: string) => Object.assign(new pg.DatabaseError("terminating connection", 0, "error"), { code });
  for (const [state, code] of [
    ["25P04", "TIMEOUT"],
    ["57P05", "UNAVAILABLE"],
  ] as const) {
    expect([
      databaseError(ended(state), identityOfUser("")).code,
      isConnectionLoss(ended(state)),
      mayHaveRun(ended(state)),
    ]).toEqual([code, true, false]);
  }
});
