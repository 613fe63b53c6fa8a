// If this file fails, `svc doctor` finds nothing wrong with a database whose rows are open, or whose triggers are off.
import { expect, inject, test } from "vitest";
import { examineCollation, examineSchema, examineTriggers } from "../../src/cli/doctor-schema.ts";
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
