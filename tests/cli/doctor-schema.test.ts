// If this file fails, `svc doctor` finds nothing wrong with a database whose rows are open, or whose triggers are off.
import { expect, test } from "vitest";
import { examineSchema, examineTriggers } from "../../src/cli/doctor-schema.ts";
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
