// If this file fails, the same change has another entry, or another body of a webhook, when a session shows values in its own way,
// and a key that was written by such a session is not found any more, nor are deliveries to such a key.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("platform");
const table = "public.readings";
const columns = ["id", "span", "during", "share", "source"];
beforeAll(async () => {
  await db.sql(`set role svc_owner;
    create table ${table} (id bytea primary key, span interval, during tstzrange, share float8, source regclass)`);
  await db.sql("select svc_private.install_history($1)", [JSON.stringify([{ table, keys: ["id"], omit: [] }])]);
  const data = columns.map((name) => `t.${name}`).join(", ");
  const webhook = { name: "read", table, key: ["id"], columns, data, when: ["insert"], env: "A_HOOK" };
  await db.sql("select svc_private.install_webhooks($1)", [JSON.stringify([webhook])]);
  await db.sql("reset role");
});

const settings = [
  "set timezone = 'Asia/Tokyo'",
  "set datestyle = 'SQL, DMY'",
  "set intervalstyle = 'sql_standard'",
  "set bytea_output = 'escape'",
  "set extra_float_digits = -15",
  "set quote_all_identifiers = on",
];
const write = async (client: pg.Client) => {
  await client.query(`insert into ${table} values ('\\x61ff', '-1 day -02:03:04', '[2026-03-04 05:00Z,2026-03-05 06:00Z)',
    1400000, 'auth."user"')`);
  const entries = await db.sql(
    "select row_id, changed from svc_private.history_entries where operation = 'insert' order by id desc limit 1",
  );
  const deliveries = await db.sql(
    "select row_key, body::jsonb -> 'data' as data from svc.webhook_deliveries order by sequence desc limit 1",
  );
  return [...entries, ...deliveries];
};
const found = async (client: pg.Client) =>
  (await client.query("select operation, changed from svc.row_history($1, '\\x61ff')", [table])).rows;

test("the settings of a session change neither what is written nor what is found", async () => {
  const [usual, other] = await Promise.all([db.connect("admin"), db.connect("admin")]);
  for (const setting of settings) await other.query(setting);
  const expected = await write(usual);
  expect(expected[0]).toMatchObject({ row_id: "\\x61ff", changed: { span: [null, "-1 days -02:03:04"] } });
  expect(await found(other)).toEqual(await found(usual));
  const ofStudio = await other.query("select svc_private.studio_history_key($1, array['\\x61ff']) as key", [table]);
  expect(ofStudio.rows).toEqual([{ key: "\\x61ff" }]);
  await usual.query(`delete from ${table}`);
  expect(await write(other)).toEqual(expected);
  expect(await found(usual)).toHaveLength(1);
  expect(await found(other)).toEqual(await found(usual));
});

test("the function of a webhook that an earlier version has made gets the settings in an upgrade", async () => {
  const made = async () =>
    (await db.sql<{ it: string[] }>("select proconfig as it from pg_proc where proname = 'webhook read'"))[0]?.it;
  const fresh = await made();
  const earlier = "reset intervalstyle reset bytea_output reset quote_all_identifiers";
  await db.sql(`set role svc_owner; alter function svc_private."webhook read"() ${earlier}`);
  expect(await made()).not.toEqual(fresh);
  await db.sql(await readFile(join(root, "sql/webhooks/webhook_body.sql"), "utf8"));
  await db.sql("reset role");
  expect(await made()).toEqual(fresh);
});

test("a session finds and repeats the deliveries to an endpoint, however it shows the key of it", async () => {
  const endpoints = { table: '"public"."receivers"', key: "id", owner: "user_id" };
  const declared = { name: "made", table: "public.made", key: ["id"], columns: ["id"], data: "t.id", when: ["insert"] };
  await db.sql(`set role svc_owner;
    create table receivers (id date primary key, user_id bytea, url text, secret text, enabled boolean default true);
    create table made (id serial primary key, user_id bytea);
    grant select, update on receivers to svc_authenticated`);
  const webhook = { ...declared, endpoints, owner: "user_id" };
  await db.sql("select svc_private.install_webhooks($1)", [JSON.stringify([webhook])]);
  await db.sql(
    `reset role; insert into receivers values ('2026-03-04', '\\x61ff'); insert into made (user_id) values ('\\x61ff')`,
  );
  const [noted] = await db.sql(
    "update svc.webhook_deliveries set state = 'dead', ended_at = now() where webhook = 'made' returning id, source, endpoint, owner",
  );

  for (const [role, user] of [
    ["none", ""],
    ["svc_authenticated", "ann"],
  ]) {
    for (const others of [[], settings]) {
      const client = await db.connect("admin");
      for (const setting of others) await client.query(setting);
      await client.query("select set_config('svc.user_id', $1, false), set_config('role', $2, false)", [user, role]);
      const found = await client.query(
        "select d.id from receivers e cross join svc.row_deliveries('receivers', e.id::text) d",
      );
      expect(found.rows, `${role}: ${others}`).toEqual([{ id: noted?.id }]);
      if (!user) continue;
      const resource = { table: "public.receivers", keys: { id: { name: "id", type: "date" } }, limits: [20, 100] };
      const args = { id: "2026-03-04", delivery: noted?.id };
      const retried = await client.query("select svc.retry_delivery($1, $2) ->> 'state' as state", [resource, args]);
      expect(retried.rows, `retry: ${others}`).toEqual([{ state: "pending" }]);
      await db.sql("update svc.webhook_deliveries set state = 'dead', ended_at = now() where id = $1", [noted?.id]);
    }
  }
  const client = await db.connect("admin");
  await client.query("set role svc_owner");
  for (const setting of settings) await client.query(setting);
  const owned = await client.query("select svc_private.is_owned_by('made', $1, $2, $3) as it", [
    noted?.source,
    noted?.endpoint,
    noted?.owner,
  ]);
  expect(owned.rows).toEqual([{ it: true }]);
});
