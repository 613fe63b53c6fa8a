// If this file fails, `svc doctor` finds nothing wrong with a database whose rows are open, or whose triggers are off.
import { expect, inject, test } from "vitest";
import { examineBackups } from "../../src/cli/doctor-durability.ts";
import {
  examineCollation,
  examineOldTransactions,
  examineSchema,
  examineTriggers,
} from "../../src/cli/doctor-schema.ts";
import { withClient } from "../../src/postgres/with-client.ts";
import { inDatabase, maintain } from "../support/admin.ts";
import { database } from "../support/database.ts";

const db = database();
const logins = async () => ({
  request: await db.connect("request"),
  system: await db.connect("system"),
  auth: await db.connect("auth"),
});

test("an error of svc db lint is told", async () => {
  const { system } = await logins();
  expect(await examineSchema(system as never)).toEqual([{ kind: "ok", text: "svc db lint finds no errors" }]);
  await db.sql("alter table notes disable row level security");
  expect(await examineSchema(system as never)).toEqual([
    {
      kind: "advice",
      text: expect.stringMatching(/^svc db lint finds 1 error: public\.notes has .* off.*svc db lint\.$/s),
    },
  ]);
});

test("triggers that are off are told, with the login", async () => {
  expect(await examineTriggers((await logins()) as never)).toEqual([]);
  await db.sql(`alter role svc_auth in database ${db.name} set session_replication_role = replica`);
  expect(await examineTriggers((await logins()) as never)).toEqual([
    { kind: "wrong", text: expect.stringMatching(/^session_replication_role is replica for svc_auth: triggers/) },
  ]);
});

test("indexes on text that another version of the rules has sorted are told", async () => {
  expect(await examineCollation((await logins()).system as never)).toEqual([]);
  const name = `${db.name}_icu`;
  const { admin } = inject("urls");
  await maintain(admin, `create database ${name} template template0 locale_provider icu icu_locale 'en-US'`);
  try {
    await withClient(inDatabase(admin, name), "doctor", async (client) => {
      expect(await examineCollation(client as never)).toEqual([]);
      await client.query("update pg_database set datcollversion = '1.2' where datname = current_database()");
      expect(await examineCollation(client as never)).toEqual([
        {
          kind: "wrong",
          text: expect.stringMatching(/with version 1\.2, and.*reindex database \w+_icu; and then alter/s),
        },
      ]);
    });
  } finally {
    await maintain(admin, `drop database ${name} with (force)`);
  }
});

test("transactions that keep vacuum from its work are told, also those without a session", async () => {
  const { system } = await logins();
  const forgotten = await db.connect("request");
  await forgotten.query("begin; select from pg_class");
  const prepared = await db.connect("admin");
  await prepared.query("begin; insert into guestbook (message) values ('two phases'); prepare transaction 'forgotten'");
  try {
    expect(await examineOldTransactions(system as never)).toEqual([]);
    await expect.poll(() => examineOldTransactions(system as never, 0)).toHaveLength(2); // after five seconds
    const told = (await examineOldTransactions(system as never, 0)).map(({ text }) => text);
    expect(told).toEqual([
      expect.stringMatching(/^The transaction of session \d+ .*: select pg_terminate_backend\(\d+\);$/s),
      expect.stringMatching(/^The prepared transaction forgotten .*: rollback prepared 'forgotten';$/s),
    ]);
    const [metric] = await db.sql<{ value: number }>(
      "select value from svc_private.service_state() where metric = 'oldest_transaction_seconds'",
    );
    expect(metric?.value).toBeGreaterThan(5);
  } finally {
    await prepared.query("rollback prepared 'forgotten'");
    await forgotten.query("rollback");
  }
});

test("backups that are missing or old are told", async () => {
  const { system } = await logins();
  const told = async () => (await examineBackups(system as never)).map(({ kind, text }) => [kind, text.split("\n")[0]]);
  const take = (age: string) =>
    db.sql(`insert into svc.operator_acts (via, act, arguments, outcome)
      values ('test', 'db_backup', jsonb_build_object('takenAt', now() - interval '${age}'), 'succeeded')`);
  expect(await told()).toEqual([["advice", "No backup by svc db backup is known."]]);
  await take("3 days");
  expect(await told()).toEqual([["advice", "The last backup is 3 days old."]]);
  await take("1 day");
  expect(await told()).toEqual([
    ["ok", expect.stringMatching(/^the last backup is of .*, the last trial restore is still/)],
  ]);
});
