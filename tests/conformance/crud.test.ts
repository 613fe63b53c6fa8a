// If this file fails, generated CRUD admits anonymous callers where credentials are required, or its keys, pages and
// ids differ from the declaration.
import { sql } from "drizzle-orm";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());
// Anyone may do anything with these rows, so that only CRUD itself requires credentials.
const open = () => openRls({ read: "anyone", write: "anyone" });
const letters = pgTable("letters", { id: serial("id").primaryKey(), body: text("body").notNull() }, open);
const labels = pgTable(
  "labels",
  { id: text("id").primaryKey().default(sql`gen_random_uuid()::text`), name: text("name") },
  open,
);

const registered = {
  letters: createCrud(letters),
  anonymous: createCrud(letters, { prefix: "anonymous", allowAnonymous: true }),
  few: createCrud(letters, { prefix: "few", defaultLimit: 2, maxLimit: 3 }),
  labels: createCrud(labels),
};
const forgotten = createCrud(letters, { prefix: "forgotten", allowAnonymous: true });

const db = database();
beforeAll(async () => {
  const api = defineApi({ procedures: { ...registered, forgotten } });
  await db.sql(`
    set role svc_owner;
    create table letters (id serial primary key, body text not null);
    create table labels (id text primary key default gen_random_uuid()::text, name text);
    alter table letters enable row level security;
    alter table labels enable row level security;
    create policy all_anyone on letters for all to svc_anonymous, svc_authenticated using (true) with check (true);
    create policy all_anyone on labels for all to svc_anonymous, svc_authenticated using (true) with check (true);
    grant all on letters, labels to svc_anonymous, svc_authenticated;
    grant usage on sequence letters_id_seq to svc_anonymous, svc_authenticated;
    ${api["~svc"].crud.map(crudFile).join("\n")}
    reset role`);
});
const svc = service(db, apiWith({ procedures: registered }));
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});
beforeEach(async () => {
  await db.sql("truncate letters restart identity; insert into letters (body) values ('a')");
});

const operations = [
  { operation: "list", kind: "query", args: undefined },
  { operation: "get", kind: "query", args: { id: 1 } },
  { operation: "create", kind: "mutation", args: { body: "b" } },
  { operation: "update", kind: "mutation", args: { id: 1, body: "b" } },
  { operation: "remove", kind: "mutation", args: { id: 1 } },
] as const;
const otherKind = { query: "mutation", mutation: "query" } as const;

describe.for(operations)("$operation", ({ operation, kind, args }) => {
  const call = (prefix: string, headers: Record<string, string>, path: "query" | "mutation" = kind) =>
    svc.fetch(`/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ name: `${prefix}.${operation}`, args }),
    });

  test("answers 401 without valid credentials, and does nothing, unless declared otherwise", async () => {
    const before = await db.snapshot("letters");
    for (const authorization of ["", "Bearer ", "Bearer nonsense", `Bearer ${ann.token}x`, "Basic YTpi"]) {
      expect(await call("letters", { authorization })).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    }
    expect(await db.snapshot("letters")).toEqual(before);
    expect((await call("letters", bearer(ann))).status).toBe(200);
  });

  test("asks nobody for credentials with allowAnonymous: true", async () => {
    expect((await call("anonymous", {})).status).toBe(200);
  });

  test("is called by the path of its kind alone", async () => {
    expect((await call("letters", bearer(ann), otherKind[kind])).status).toBe(404);
    expect((await call("letters", bearer(ann), kind)).status).toBe(200);
  });

  test("answers only when it is registered under procedures", async () => {
    expect(await call("forgotten", bearer(ann))).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });
});

test("remove deletes the row", async () => {
  expect((await svc.mutate(ann, "letters.remove", { id: 1 })).body).toEqual({ json: { id: 1 } });
  expect(await db.sql("select from letters")).toEqual([]);
});

test.for([
  [undefined, 2], [{}, 2], [{ limit: 1 }, 1], [{ limit: 3 }, 3], [{ limit: 4 }, 3], [{ limit: 100 }, 3],
] as const)("with defaultLimit 2 and maxLimit 3, a list with %j has %i rows", async ([args, length]) => {
  await db.sql("insert into letters (body) select 'x' from generate_series(1, 9)");
  const { body } = await svc.query(ann, "few.list", args);
  expect({ length: body.json.data.length, total: body.json.total }).toEqual({ length, total: 10 });
}); // biome-ignore format: a table

test("a text id takes strings and nothing else", async () => {
  const { id } = (await svc.mutate(ann, "labels.create", { name: "a" })).body.json;
  expect(id).toEqual(expect.any(String));
  await db.sql("insert into labels (id, name) values ('7', 'seven')");
  expect((await svc.query(ann, "labels.get", { id: "7" })).body.json).toEqual({ id: "7", name: "seven" });
  expect((await svc.query(ann, "labels.get", { id: 7 })).status).toBe(400);
  expect((await svc.mutate(ann, "labels.update", { id, name: "b" })).body.json).toEqual({ id, name: "b" });
  expect((await svc.mutate(ann, "labels.remove", { id: 7 })).status).toBe(400);
  expect((await svc.mutate(ann, "labels.remove", { id })).body.json).toEqual({ id });
});
