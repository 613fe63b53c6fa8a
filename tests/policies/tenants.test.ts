// If this file fails, one of fifty tenants can read, count or change another tenant's rows by some call. The calls are
// random, and every answer is compared with a simple model of access.
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, ownerRls } from "../../src/index.ts";
import { crud, procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, service } from "../support/service.ts";
import { absentId, type Call, randomBatch, randomCall } from "./tenants-calls.ts";
import { expected, type Walk } from "./tenants-expected.ts";
import { owners, type Row, rowsOf, teamsOf } from "./tenants-model.ts";
import { addTenants, callers, pick, random, seed, storeRows, two } from "./tenants-world.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 300), 20_000);

const createCrud = createCrudFactory(procedure);
/** Rows of one user, with a code that is unique among those of all. */
const codes = pgTable(
  "codes",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    code: text("code").notNull().unique(),
    note: text("note"),
  },
  (t) => ownerRls(t.userId),
);
const counts = { measures: ["count"] } as const;
// The fixture's private tables have neither filters nor search; a count could disclose hidden rows by both.
// biome-ignore format: a table
const wide = {
  wideNotes: createCrud(schema.notes, { prefix: "wide_notes", many: true, aggregate: counts, searchFields: ["title"], allowedFilters: ["title", "done", "priority", "userId", "createdAt"] }),
  wideFlags: createCrud(schema.flags, { prefix: "wide_flags", many: true, aggregate: counts, searchFields: ["label"], allowedFilters: ["label", "gone", "userId"], softDelete: { field: "gone" } }),
  wideBoards: createCrud(schema.boards, { prefix: "wide_boards", many: true, aggregate: counts, searchFields: ["name"], allowedFilters: ["name", "teamId"] }),
  codes: createCrud(codes, { many: true, aggregate: counts, getBy: ["code"], upsertBy: ["code"], allowedFilters: ["code", "note"] }),
};
const { notes, flags, articles, plainArticles, boards, memberships } = crud;
const procedures = { notes, flags, articles, plainArticles, boards, memberships, ...wide };
const resources = defineApi({ procedures })["~svc"].crud;
const tables = resources.filter(({ prefix, table }) => prefix === table);

const db = database();
beforeAll(async () => {
  const functions = resources.filter(({ prefix }) => prefix === "codes" || prefix.startsWith("wide_")).map(crudFile);
  await db.sql(`
    create table codes (id serial primary key, user_id text not null, code text not null unique, note text);
    alter table codes enable row level security;
    create policy own on codes to svc_authenticated using (user_id = (select svc.current_user_id()));
    grant all on codes to svc_authenticated;
    grant usage on sequence codes_id_seq to svc_authenticated;
    set role svc_owner; ${functions.join("\n")} reset role; set timezone = 'UTC'`);
});
const svc = service(db, apiWith({ procedures: wide }));
const walks: Walk[] = [];

beforeAll(async () => {
  await addTenants(db, svc);
  await storeRows(db, tables);
});

const send = ({ caller: { user }, resource: { prefix }, operation, args }: Call): Promise<Answer> =>
  ["list", "get", "aggregate"].includes(operation)
    ? svc.query(user, `${prefix}.${operation}`, args)
    : svc.mutate(user, `${prefix}.${operation}`, args);
/** An answer without its request's id, and without the requested row in a hint. */
const ofItself = ({ status, body: { requestId: _, hint, ...body } }: Answer) => ({
  status,
  body,
  hint: hint?.replace(/ --row \S+/, ""),
});
/** The owners and teams that private texts may name in an answer to this caller. */
const namesOf = (id: string | null) => (id === null ? [] : [`own${two(owners.indexOf(id))}`, ...teamsOf(id)]);

const strangersIn = ({ body }: Answer, names: unknown[]) =>
  (JSON.stringify(body).match(/(own|team)\d\d/g) ?? []).filter((name) => !names.includes(name));

/** Calls in one transaction: each answers as it would alone, or the first that is refused undoes all. */
async function sendBatch(calls: Call[], number: string): Promise<void> {
  const what = `${number}, a batch of ${calls[0]?.caller.who}: ${JSON.stringify(calls.map(({ resource, operation, args }) => [resource.prefix, operation, args]))}`;
  const each = calls.map((call) => expected(call));
  const index = each.findIndex(({ status }) => status !== 200);
  const sent = calls.map(({ resource, operation, args }) => ({ name: `${resource.prefix}.${operation}`, args }));
  const answer = await svc.post("/api/batch", { calls: sent }, calls[0]?.caller.user);
  const results = answer.body.results?.map(({ json }: Row) => json);
  const json = index < 0 ? each.map((one) => one.json) : undefined;
  expect([answer.status, results], what).toEqual([each[index]?.status ?? 200, json]);
  expect(strangersIn(answer, namesOf(calls[0]?.caller.id ?? null)), what).toEqual([]);
  for (const [at, { change }] of each.entries())
    if (index < 0) await change?.(results[at], (...given) => db.sql(...given));
}

test("random calls show, count and change nothing that is not the caller's", { timeout: 3_600_000 }, async () => {
  const statuses = new Set<number>();
  for (let number = 0; number < runs; number++) {
    if (random() < 0.05) {
      const batch = randomBatch(resources);
      if (batch.length > 0) await sendBatch(batch, `FUZZ_SEED=${seed}, call ${number}`);
      continue;
    }
    const walk = walks.length > 0 && random() < 0.1 ? pick(walks) : undefined;
    const call = walk ? { ...walk.call, ...(random() < 0.3 && { caller: pick(callers) }) } : randomCall(resources);
    const { caller, resource, operation, args } = call;
    const what = `FUZZ_SEED=${seed}, call ${number}: ${caller.who} ${resource.prefix}.${operation} ${JSON.stringify(args)}`;
    const { status, json, change } = expected(call, walk);
    const names = namesOf(caller.id);

    const answer = await send(call);
    statuses.add(answer.status);
    expect({ status: answer.status, json: answer.body.json }, what).toEqual({ status, json });
    await change?.(answer.body.json, (...given) => db.sql(...given));
    names.push(...namesOf(caller.id)); // joining a team shows its name
    expect(strangersIn(answer, names), what).toEqual([]);

    // Hidden, deleted and missing rows give the same answer.
    if (args.id !== undefined && (status === 404 || json === null)) {
      const absent = await send({ ...call, args: { ...args, id: absentId(args.id) } });
      expect(ofItself(answer), what).toEqual(ofItself(absent));
    }
    const { nextCursor: cursor, data } = answer.body.json ?? {};
    if (cursor && !args.select) walks.push({ call: { ...call, args: { ...args, cursor } }, last: { ...data.at(-1) } });
  }
  // Every kind of answer occurred; otherwise the calls were not varied enough.
  if (runs >= 1000) expect([...statuses].sort()).toEqual([200, 400, 401, 403, 404, 409]);

  for (const { table, columns } of tables) {
    const stored = await db.sql<{ row: Row }>(`select row_to_json(t) as row from ${table} as t`);
    const rows = stored.map(({ row }) => Object.fromEntries(columns.map((one) => [one.property, row[one.name]])));
    const byId = (list: Row[]) => Object.fromEntries(list.map((row) => [String(row.id), row]));
    expect(byId(rows), `FUZZ_SEED=${seed}, ${table}`).toEqual(byId(rowsOf(table)));
  }
});
