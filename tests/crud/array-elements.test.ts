// If this file fails, an array inside an array of JSON is stored as something else, or a hook gets bytes as their base64.
import { customType, json, jsonb, pgTable, serial, varchar } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const heaps = pgTable(
  "heaps",
  {
    id: serial("id").primaryKey(),
    notes: jsonb("notes").array(),
    plain: json("plain").array(),
    file: bytea("file"),
    files: bytea("files").array(),
    codes: varchar("codes", { length: 3 }).array(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const seen: unknown[] = [];
const crud = createCrudFactory(procedure)(heaps, {
  allowAnonymous: true,
  many: true,
  hooks: {
    beforeUpdate(data) {
      seen.push(data);
      return data;
    },
  },
});
const db = database();
beforeAll(() =>
  db.sql(`
    create table heaps (id serial primary key, notes jsonb[], plain json[], file bytea, files bytea[], codes varchar(3)[]);
    alter table heaps enable row level security;
    create policy all_anyone on heaps to svc_anonymous, svc_authenticated using (true);
    grant all on heaps, heaps_id_seq to svc_anonymous, svc_authenticated;
    ${defineApi({ procedures: { crud } })["~svc"].crud.map(crudFile).join("\n")}`),
);
const svc = service(db, apiWith({ procedures: { heaps: crud } }));
const mutate = async (operation: string, args: object) => {
  const { status, body } = await svc.mutate(null, `heaps.${operation}`, args);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.json;
};

// An element that was an array became a dimension, and an empty one was lost.
test.each<[name: string, value: unknown[], stored: string]>([
  ["notes", [[], [[]], [[1], []]], '{[],[[]],"[[1], []]"}'],
  ["notes", [{ a: [null] }, "a", null, 1.5], '{"{\\"a\\": [null]}","\\"a\\"",NULL,1.5}'],
  ["notes", [], "{}"],
  ["plain", [[], [[1], []], null], '{[],"[[1], []]",NULL}'],
])("%s %j is stored as such", async (name, value, stored) => {
  const made = await mutate("create", { [name]: value });
  const many = await mutate("createMany", { rows: [{ [name]: value }, {}] });
  const empty = await mutate("create", {});
  const changed = await mutate("update", { id: empty.id, [name]: value });
  for (const row of [made, many.data[0], changed]) {
    expect(row[name]).toEqual(value);
    expect(await db.sql(`select ${name}::text as stored from heaps where id = ${row.id}`)).toEqual([{ stored }]);
  }
  expect(many.data[1][name]).toBeNull();
});

test("a hook gets bytes as handlers do, and what it returns is stored", async () => {
  const { id } = await mutate("create", {});
  const given = { file: "AAECAw==", files: ["AAECAw==", null, ""] };
  const changed = await mutate("update", { id, ...given });
  expect(seen.at(-1)).toEqual({ file: Buffer.of(0, 1, 2, 3), files: [Buffer.of(0, 1, 2, 3), null, Buffer.of()] });
  expect(changed).toMatchObject(given);
});

test("an element that does not fit its column is named", async () => {
  const { status, body } = await svc.mutate(null, "heaps.create", { codes: ["abc", "abcd"] });
  expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path: ["codes", 1] }] });
  expect((await mutate("create", { codes: ["abc", "abc   "] })).codes).toEqual(["abc", "abc"]);
});

// Each element that is refused is an issue: as arguments of one call they overflowed the stack, and the answer was 500.
test("a hundred thousand wrong elements are refused as one is", async () => {
  for (const count of [1, 300_000]) {
    const set = { files: Array(count).fill(7) };
    const { status, body } = await svc.mutate(null, "heaps.updateMany", { filters: {}, set, max: 1 });
    expect([status, body.code, body.issues?.length]).toEqual([400, "VALIDATION_FAILED", Math.min(count, 100)]);
    expect(body.issues[0].path).toEqual(["set", "files", 0]);
  }
});
