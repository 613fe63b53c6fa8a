// If this file fails, GraphQL cannot write a column whose value it answers, or answers nulls for it.
import { customType, integer, interval, pgTable, point, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const own = (type: string) => customType<{ data: string }>({ dataType: () => type });
const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const shifts = pgTable(
  "shifts",
  {
    id: serial("id").primaryKey(),
    title: text("title"),
    lasts: interval("lasts"),
    pauses: interval("pauses").array(),
    hours: own("int4range")("hours"),
    place: point("place"),
    pay: own("money")("pay"),
    level: own("level")("level"),
    files: bytea("files").array(),
    matrix: integer("matrix").array().array(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const procedures = {
  shifts: createCrudFactory(createSvcProcedureBuilders())(shifts, { allowAnonymous: true }),
};
const api = defineApi({ procedures });
const db = database();
beforeAll(() =>
  db.sql(`
    create domain level as integer check (value > 0);
    create table shifts (id serial primary key, title text, lasts interval, pauses interval[], hours int4range, place point, pay money,
      level level, files bytea[], matrix integer[][]);
    alter table shifts enable row level security;
    create policy all_anyone on shifts to svc_anonymous, svc_authenticated using (true);
    grant all on shifts, shifts_id_seq to svc_anonymous, svc_authenticated;
    ${api["~svc"].crud.map(crudFile).join("\n")}`),
);
const app = service(db, api);

const fields = `lasts { years days hours minutes seconds } pauses { hours minutes } hours { start { value inclusive } end { value inclusive } }
  place { x y } pay level files`;
const row = {
  lasts: { years: 1, days: 2, hours: 3, minutes: 0, seconds: 4.5 },
  pauses: [{ hours: 0, minutes: 5 }, null],
  hours: { start: { value: 8, inclusive: true }, end: null },
  place: { x: 1.5, y: -2 },
  pay: 12.5,
  level: 3,
  files: ["AAEC", null],
};

test("what GraphQL answers can be written by it, in a plain document too", async () => {
  const ask = asker(app);
  const made = await ask(null, `mutation ($row: ShiftInput!) { createShift(input: $row) { id ${fields} } }`, { row });
  expect(made).toMatchObject({ errors: [], data: { createShift: row } });
  const { id } = made.data.createShift;
  const changes = { ...row, level: 4, hours: { start: null, end: { value: 9, inclusive: false } } };
  const changed = await ask(
    null,
    `mutation ($id: Int!, $row: ShiftPatch!) { updateShift(id: $id, patch: $row) { title } }`,
    { id, row: changes },
  );
  expect(changed.errors).toEqual([]);
  expect((await ask(null, `{ shift(id: ${id}) { ${fields} } }`)).data).toEqual({ shift: changes });
  expect(await db.sql("select lasts::text, pauses::text, hours::text, files::text from shifts")).toEqual([
    { lasts: "1 year 2 days 03:00:04.5", pauses: "{00:05:00,NULL}", hours: "(,9)", files: '{"\\\\x000102",NULL}' },
  ]);
});

test("a value that its domain does not allow is refused", async () => {
  const given = "createShift(input: { level: -1 }) { id }";
  const { errors } = await asker(app)(null, `mutation { ${given} }`);
  expect(errors).toMatchObject([{ extensions: { code: "BAD_REQUEST" } }]);
});

test("arrays of arrays are left out", async () => {
  const { data } = await asker(app)(null, `{ __type(name: "Shift") { fields { name } } }`);
  expect(data.__type.fields).toContainEqual({ name: "files" });
  expect(data.__type.fields).not.toContainEqual({ name: "matrix" });
});
