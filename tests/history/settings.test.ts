// If this file fails, the same change has another entry, or another body of a webhook, when a session shows values in its own way,
// and a key that was written by such a session is not found any more.
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
