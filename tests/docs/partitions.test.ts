// If this file fails, readings in partitions as in docs/how-to/partitions.md are lost, doubled or shown to others.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";
import { documented } from "./documented.ts";

const page = "docs/how-to/partitions.md";
const statement = /CREATE TABLE "readings" \([^;]*;/;
const shown = statement.exec(await readFile(join(root, page), "utf8"))?.[0] ?? "";
const { db, url, person, call, lint, startWorker } = documented(page, (migration) => {
  expect(migration).toMatch(statement);
  return migration.replace(statement, shown);
});

const month = (offset: number) => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString().slice(0, 7);
};
const partitions = async () => {
  const rows = await db.sql<{ name: string; secured: boolean; identity: string }>(
    `select c.relname as name, c.relrowsecurity as secured, c.relreplident as identity
       from pg_inherits join pg_class c on c.oid = inhrelid where inhparent = 'readings'::regclass order by 1`,
  );
  return rows;
};
const named = (offset: number) => `readings_${month(offset).replace("-", "_")}`;

test("there are partitions for two years back and two months ahead, closed to requests", async () => {
  const found = await partitions();
  expect(found.map(({ name }) => name)).toEqual(Array.from({ length: 27 }, (_, n) => named(n - 24)));
  expect(new Set(found.map(({ secured, identity }) => `${secured} ${identity}`))).toEqual(new Set(["true f"]));
  const [table] = await db.sql("select relreplident as identity from pg_class where oid = 'readings'::regclass");
  expect(table).toEqual({ identity: "f" }); // as sql/realtime.sql sets it
  expect(await lint()).toEqual([]);
});

test("a reading that comes twice or late is there once, and only for its owner, by every door", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  const at = `${month(-20)}-15T00:30:00.123456Z`;
  const by = ["userId", "meter", "at"];
  const send = (value: string, time = at) =>
    call("mutation", ann.token, "readings.upsert", { by, row: { meter: "m1", at: time, value } });
  const first = (await send("1.5")).body.json;
  expect((await send("2.5")).body.json).toEqual({ ...first, value: "2.5" });
  const { status, body } = await send("1", "1970-01-01T00:00:00Z");
  expect([status, body.error]).toEqual([400, "Its table has no partition for this row."]);
  const row = (n: number) => ({ meter: "m1", at: `${month(-n)}-03T00:00:00Z`, value: "1" });
  expect((await call("mutation", ann.token, "readings.createMany", { rows: [1, 2, 3].map(row) })).status).toBe(200);

  // Pages by cursor over several partitions.
  const seen: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const args: object = {
      orderBy: "at",
      orderDir: "asc",
      limit: 1,
      cursor,
      filters: { at: { op: "gte", value: at } },
    };
    const { data, nextCursor } = (await call("query", ann.token, "readings.list", args)).body.json;
    seen.push(...data.map(({ at }: { at: string }) => at.slice(0, 7)));
    if (!nextCursor) break;
    cursor = nextCursor;
  }
  expect(seen).toEqual([-20, -3, -2, -1].map(month));
  const sums = { groupBy: ["at:month"], measures: ["sum:value"] };
  expect((await call("query", ann.token, "readings.aggregate", sums)).body.json.data).toHaveLength(4);

  const id = first.id;
  expect((await call("query", ann.token, "readings.get", { id })).body.json).toMatchObject({ value: "2.5" });
  expect((await call("query", bob.token, "readings.get", { id })).body.json).toBeNull();
  expect((await call("query", bob.token, "readings.list")).body.json.data).toEqual([]);
  expect((await call("mutation", bob.token, "readings.update", { id, value: "9" })).status).toBe(404);
  const file = await fetch(`${url()}/api/export/readings.ndjson`, {
    headers: { authorization: `Bearer ${bob.token}` },
  });
  expect(await file.text()).toBe("");

  const client = await db.connect("request");
  await client.query("begin");
  await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
    ann.user.id,
  ]);
  await expect(client.query(`select from public.${named(-20)}`)).rejects.toThrow("permission denied");
  await client.query("rollback");
});

test("the cron makes what is missing and drops what is too old, and the linter has nothing against it", async () => {
  await db.sql(`set local role svc_owner; drop table ${named(1)};
    create table readings_2019_01 partition of readings for values from ('2019-01-01') to ('2019-02-01')`);
  await startWorker();
  await db.sql("select svc_private.enqueue_system_job('readings.keepPartitions', null, '0', null, null)");
  await expect.poll(async () => (await partitions()).map(({ name }) => name), { timeout: 20_000 }).toContain(named(1));
  expect((await partitions()).map(({ name }) => name)).not.toContain("readings_2019_01");
  expect(await lint()).toEqual([]);
});
