// If this file fails, a page keeps old data for ever when a synchronous standby answers late: PostgreSQL tells subscribers of
// a transaction as soon as it is in the log, and other transactions see it when the standby has answered.
import { integer, pgTable } from "drizzle-orm/pg-core";
import { expect, onTestFinished, test } from "vitest";
import { createSvcClient } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { createSvcProcedureBuilders, openRls } from "../../src/index.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import * as schema from "../fixture/backend/schema.ts";
import { ask, fast, open, temporary } from "../postgres/clusters.ts";
import { execute } from "../support/admin.ts";
import { fixture } from "../support/cli.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";

/** Not in the schema of the service: its changes are told by ctx.realtime.refresh alone. */
const tallies = pgTable("tallies", { n: integer("n") }, () => openRls({ read: "anyone", write: "nobody" }));
const { query } = createSvcProcedureBuilders<typeof schema>();
const count = query
  .name("late.count")
  .allowAnonymous()
  .follows()
  .handler(({ context }) => context.db.$count(tallies));

test("a page asks until its answer has the change of which it was told", { timeout: 120_000 }, async () => {
  const { urls } = await open(temporary(), { settings: { ...fast, wal_level: "logical" } });
  await migrate({ adminUrl: urls.admin, platform: root, application: fixture });
  await execute(urls.admin, "create table tallies (n integer)", "grant select on tallies to svc_anonymous");
  const standby = async (names: string) => {
    await execute(urls.admin, `alter system set synchronous_standby_names = '${names}'`, "select pg_reload_conf()");
    await expect.poll(() => ask(urls.admin, "show synchronous_standby_names")).toBe(names);
  };
  const running = new TestService({ urls } as never, apiWith({ procedures: { count } }), {}, schema);
  await running.start();
  onTestFinished(() => running.stop());
  const asked = { "guestbook.list": 0, "late.count": 0 };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (String(input).endsWith("/api/query")) asked[JSON.parse(String(init?.body)).name as keyof typeof asked]++;
    return response;
  };
  const client = createSvcClient({ api: {}, baseUrl: running.url, fetch });
  onTestFinished(() => client.close());
  const shown: Record<string, unknown> = {};
  for (const name of Object.keys(asked)) {
    client.watch({ kind: "query", name } as unknown as Query, {} as never, (result) => {
      shown[name] = (result as { total?: number }).total ?? result;
    });
  }
  await expect.poll(() => client.realtime.getStatus()).toBe("live");
  await expect.poll(() => shown).toEqual({ "guestbook.list": 0, "late.count": 0 });

  await standby("away");
  const before = { ...asked };
  const written = execute(
    urls.admin,
    `begin; insert into guestbook (message) values ('hello'); insert into tallies values (1); select svc.emit_message('{"refresh": "late.count"}'); commit`,
  );
  for (const name of Object.keys(asked) as (keyof typeof asked)[]) {
    await expect.poll(() => asked[name] - before[name], { message: name }).toBeGreaterThan(1);
  }
  await standby("");
  await written;
  await expect.poll(() => shown).toEqual({ "guestbook.list": 1, "late.count": 1 });
});
