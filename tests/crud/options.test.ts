// If this file fails, an option of createCrud does not do what its documentation says.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createSvcProcedureBuilders, defineApi } from "../../src/index.ts";
import { crud, procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const db = database();
const parsing = procedure.mutation
  .name("parsing")
  .input(z.object({ title: z.string() }))
  .handler(({ input }) => z.object({ title: z.number() }).parse(input));
const svc = service(db, apiWith({ procedures: { parsing } }));
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});
beforeEach(async () => {
  await db.sql("truncate articles, flags, notes, boards, memberships");
});

async function created(name: string, data: object, user = ann) {
  const { status, body } = await svc.mutate(user, `${name}.create`, data);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.json;
}

describe.for([
  { name: "articles", row: { title: "x" }, field: "deleted_at", list: { filters: { title: "x" } } },
  { name: "flags", row: { label: "x" }, field: "gone", list: { orderBy: "label" } },
])("softDelete of $name", ({ name, row, field, list }) => {
  test("hides the row from every operation and keeps it in the table", async () => {
    const { id } = await created(name, row);
    const kept = await created(name, row);
    expect((await svc.mutate(ann, `${name}.remove`, { id })).body.json).toEqual({ id });

    for (const args of [undefined, list, { cursor: null }, { search: "x" }]) {
      const { body } = await svc.query(ann, `${name}.list`, args);
      expect(body.json.data.map((one: { id: string }) => one.id)).toEqual([kept.id]);
      expect(body.json.total).toBe(1);
    }
    expect((await svc.query(ann, `${name}.get`, { id })).body.json).toBeNull();
    expect((await svc.mutate(ann, `${name}.update`, { id, ...row })).status).toBe(404);
    expect((await svc.mutate(ann, `${name}.remove`, { id })).status).toBe(404);
    expect(await db.sql(`select id from ${name}`)).toHaveLength(2);
  });

  test("can be undone by whoever may, and not by an update", async () => {
    const { id } = await created(name, row);
    await svc.mutate(ann, `${name}.remove`, { id });
    await svc.mutate(ann, `${name}.update`, { id, deletedAt: null, gone: false });
    expect((await svc.query(ann, `${name}.get`, { id })).body.json).toBeNull();
    await db.sql(`update ${name} set ${field} = ${field === "gone" ? "false" : "null"}`);
    expect((await svc.query(ann, `${name}.get`, { id })).body.json.id).toBe(id);
  });

  test("is for the owner alone", async () => {
    const { id } = await created(name, row);
    expect((await svc.mutate(bob, `${name}.remove`, { id })).status).toBe(404);
    expect((await svc.query(ann, `${name}.get`, { id })).body.json.id).toBe(id);
  });

  test("cannot be set by who creates", async () => {
    const { id } = await created(name, { ...row, deletedAt: new Date().toISOString(), gone: true });
    expect((await svc.query(ann, `${name}.get`, { id })).body.json.id).toBe(id);
  });
});

describe("hooks", () => {
  test("change the data before it is stored, with values as the schema types them", async () => {
    const row = await created("hooked", { title: "  spaces  ", publishedAt: "2026-05-01T10:00:00Z" });
    expect(row).toMatchObject({ title: "spaces", publishedAt: "2026-05-01T10:00:00+00:00" });
    const { body } = await svc.mutate(ann, "hooked.update", { id: row.id, title: "again" });
    expect(body.json).toMatchObject({ title: "again", body: `edited ${row.id}` });
  });

  test("are told whose row is removed, and keep it by throwing", async () => {
    const gone = await created("hooked", { title: "gone" });
    const kept = await created("hooked", { title: "kept" });
    const anns = await created("hooked", { title: "Ann's" });
    await db.sql("truncate notes");
    expect((await svc.mutate(ann, "hooked.remove", { id: gone.id })).body.json).toEqual({ id: gone.id });
    expect((await svc.mutate(ann, "hooked.remove", { id: kept.id })).body.error).toBe("Not this one.");
    expect((await svc.mutate(bob, "hooked.remove", { id: anns.id })).status).toBe(404);
    expect((await svc.mutate(ann, "hooked.remove", { id: 5 })).status).toBe(400);
    expect(await db.sql("select title from articles order by title")).toEqual([{ title: "Ann's" }, { title: "kept" }]);
    // Writes of the hook were rolled back with the failed calls.
    expect(await db.sql("select title from notes")).toEqual([{ title: `removed ${gone.id}` }]);
  });

  test("write in the same transaction as the row", async () => {
    await created("hooked", { title: "with a note" });
    expect(await db.sql("select title, user_id from notes")).toEqual([{ title: "about with a note", user_id: ann.id }]);
    // The row violates a rule after the hook has written its own row.
    const { status } = await svc.mutate(ann, "hooked.create", { title: "x", price: "99999999999.99" });
    expect(status).toBe(400);
    expect(await db.sql("select title from notes")).toHaveLength(1);
  });

  test("that throw leave nothing, and say what they say", async () => {
    const { status, body } = await svc.mutate(ann, "hooked.create", { title: "forbidden" });
    expect({ status, error: body.error }).toEqual({ status: 403, error: "Not this title." });
    expect(await db.snapshot("articles")).toEqual([]);
    expect(await db.snapshot("notes")).toEqual([]);
  });

  test("that throw the error of a schema library are our fault, as handlers are; their issues are told by SvcError", async () => {
    for (const call of ["hooked.create", "parsing"]) {
      const { status, body } = await svc.mutate(ann, call, { title: "unparsed" });
      expect({ status, code: body.code }).toEqual({ status: 500, code: "INTERNAL" });
      expect(body).not.toHaveProperty("issues");
      expect(svc.logged.find((line) => line.includes(body.requestId))).toContain("expected number");
    }
    const issues = [{ path: ["title"], message: "is taken" }];
    expect(await svc.mutate(ann, "hooked.create", { title: "refused" })).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", issues },
    });
  });

  test("never see input of the wrong type", async () => {
    for (const data of [{ title: 5 }, {}, { title: "x", publishedAt: "soon" }, { title: "x", day: "1.5.2026" }]) {
      expect((await svc.mutate(ann, "hooked.create", data)).status).toBe(400);
    }
  });

  test("that return something wrong are our fault, and the log says which and what is wanted", async () => {
    const { id } = await created("hooked", { title: "kept" });
    const slips: [call: string, data: object, hint: string][] = [
      ["create", { title: "a slip" }, 'beforeCreate of "hooked": its return value cannot be stored: title must be'],
      ["create", { title: "forgotten" }, 'beforeCreate of "hooked": it returned nothing. Return the data to insert'],
      ["update", { id, title: "forgotten" }, 'beforeUpdate of "hooked": it returned nothing. Return the changes'],
    ];
    for (const [call, data, hint] of slips) {
      const { status, body } = await svc.mutate(ann, `hooked.${call}`, data);
      expect({ status, code: body.code }).toEqual({ status: 500, code: "INTERNAL" });
      expect(body).not.toHaveProperty("issues");
      expect(body.hint).toContain(hint);
      expect(svc.logged.find((line) => line.includes(body.requestId))).toContain(JSON.stringify(hint).slice(1, -1));
    }
    expect(await db.sql("select title from articles")).toEqual([{ title: "kept" }]);
  });

  test("run for who may, and change no one else's row", async () => {
    expect((await svc.mutate(null, "hooked.create", { title: "x" })).status).toBe(401);
    const { id } = await created("hooked", { title: "mine" });
    const before = await db.snapshot("articles");
    expect((await svc.mutate(bob, "hooked.update", { id, title: "his" })).status).toBe(404);
    expect(await db.snapshot("articles")).toEqual(before);
  });
});

describe("columns and methods", () => {
  test("pick shows and takes only these columns, and the id", async () => {
    const row = await created("titles", { title: "t", body: "never", priority: 5 });
    expect(Object.keys(row).sort()).toEqual(["createdAt", "id", "title"]);
    expect(await db.sql("select body, priority from articles")).toEqual([{ body: "", priority: null }]);
    const { body } = await svc.query(ann, "titles.list");
    expect(Object.keys(body.json.data[0]).sort()).toEqual(["createdAt", "id", "title"]);
  });

  test("omit leaves columns out, and methods operations", async () => {
    const { id } = await created("plain_articles", { title: "t", body: "secret" });
    const { body } = await svc.query(ann, "read_only.get", { id });
    expect(body.json).not.toHaveProperty("body");
    expect(body.json.title).toBe("t");
    const listed = await svc.query(ann, "read_only.list", { orderBy: "body" });
    expect(listed.body.json.data[0]).not.toHaveProperty("body");
    for (const operation of ["create", "update", "remove"]) {
      expect((await svc.mutate(ann, `read_only.${operation}`, { id, title: "x" })).status).toBe(404);
    }
  });
});

describe("ifUnmodifiedSince", () => {
  const update = (user: User, changes: object) => svc.mutate(user, "plain_articles.update", changes);

  test("lets an update through while nobody else has changed the row, and 409 after that", async () => {
    const row = await created("plain_articles", { title: "first" });
    const mine = { id: row.id, ifUnmodifiedSince: row.updatedAt };
    const first = await update(ann, { ...mine, title: "second" });
    expect(first.body.json.title).toBe("second");
    await db.sql("update articles set updated_at = updated_at + interval '1 second'"); // beyond the same millisecond
    const second = await update(ann, { ...mine, title: "third" });
    expect({ status: second.status, code: second.body.code }).toEqual({ status: 409, code: "CONFLICT" });
    const { body } = await svc.query(ann, "plain_articles.get", { id: row.id });
    expect((await update(ann, { id: row.id, ifUnmodifiedSince: body.json.updatedAt, title: "x" })).status).toBe(200);
  });

  test("takes what a Date keeps of a timestamp: milliseconds", async () => {
    const row = await created("plain_articles", { title: "first" });
    const ifUnmodifiedSince = new Date(row.updatedAt).toISOString();
    expect((await update(ann, { id: row.id, ifUnmodifiedSince, title: "x" })).status).toBe(200);
  });

  test("of several updates at once lets one through", async () => {
    const row = await created("plain_articles", { title: "first" });
    await db.sql("update articles set updated_at = '2026-01-01T00:00:00Z'");
    const mine = { id: row.id, ifUnmodifiedSince: "2026-01-01T00:00:00Z" };
    const answers = await Promise.all(["a", "b", "c", "d"].map((title) => update(ann, { ...mine, title })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  test("lets an update through of a row that has no time", async () => {
    const row = await created("plain_articles", { title: "first" });
    await db.sql("begin");
    await db.sql("alter table articles alter updated_at drop not null");
    await db.sql("update articles set updated_at = null");
    const [updated] = await db.sql("select svc_crud.plain_articles_update($1, $2) as row", [
      row.id,
      { title: "second", ifUnmodifiedSince: "2026-01-01T00:00:00Z" },
    ]);
    await db.sql("rollback");
    expect(updated?.row).toMatchObject({ title: "second", updatedAt: expect.any(String) });
  });

  // The time was that at which the transaction began: an update between was lost without a conflict.
  test("sees the update of a transaction that began before the time", async () => {
    const row = await created("plain_articles", { title: "first" });
    await db.sql("begin");
    await db.sql("select now()");
    const { body } = await update(ann, { id: row.id, title: "second" });
    const [third] = await db.sql('select svc_crud.plain_articles_update($1, \'{"title": "third"}\') as row', [row.id]);
    await db.sql("commit");
    expect([third?.row.updatedAt, body.json.updatedAt].sort()).toEqual([body.json.updatedAt, third?.row.updatedAt]);
    expect(third?.row.updatedAt).not.toBe(body.json.updatedAt);
  });

  test("of a row that is missing or another's is 404, and what is no time 400", async () => {
    const row = await created("plain_articles", { title: "first" });
    const since = { ifUnmodifiedSince: row.updatedAt, title: "x" };
    expect((await update(bob, { id: row.id, ...since })).status).toBe(404);
    expect((await update(ann, { id: crypto.randomUUID(), ...since })).status).toBe(404);
    const { body } = await update(ann, { id: row.id, ifUnmodifiedSince: "then" });
    expect(body.issues[0].path).toEqual(["ifUnmodifiedSince"]);
  });
});

test("ids that the service makes are made for every new row, whatever the input says", async () => {
  const one = await created("flags", { label: "a", id: "mine" });
  const two = await created("flags", { label: "b" });
  expect(one.id).toMatch(/^flag-/);
  expect(two.id).not.toBe(one.id);
});

describe("memberRls", () => {
  beforeEach(async () => {
    await created("memberships", { teamId: "red" }, ann);
    await created("memberships", { teamId: "blue" }, bob);
  });

  test("shows and takes rows of one's teams, and no others", async () => {
    const board = await created("boards", { teamId: "red", name: "plans" }, ann);
    expect((await svc.query(ann, "boards.list")).body.json.total).toBe(1);
    expect((await svc.query(bob, "boards.list")).body.json.total).toBe(0);
    expect((await svc.mutate(bob, "boards.update", { id: board.id, name: "his" })).status).toBe(404);
    expect((await svc.mutate(bob, "boards.remove", { id: board.id })).status).toBe(404);
    expect((await svc.mutate(bob, "boards.create", { teamId: "red", name: "x" })).status).toBe(403);
    expect((await svc.mutate(ann, "boards.update", { id: board.id, teamId: "blue" })).status).toBe(403);
  });

  test("ends when the membership ends", async () => {
    await created("boards", { teamId: "red", name: "plans" }, ann);
    await db.sql("delete from memberships where user_id = $1", [ann.id]);
    expect((await svc.query(ann, "boards.list")).body.json.total).toBe(0);
  });
});

test("the legacy crud bag registers its procedures and warns", async () => {
  const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
  const api = defineApi({ crud: { notes: crud.notes } });
  expect([...api["~svc"].procedures.keys()]).toContain("notes.list");
  expect(api["~svc"].crud).toHaveLength(1);
  expect(await warned).toMatchObject({ code: "SVC_CRUD_BAG" });
});

test("the legacy crud bag and procedures may share a key, and what stands in both is one", () => {
  const count = createSvcProcedureBuilders()
    .query.name("notes.count")
    .handler(() => 1);
  const api = defineApi({
    crud: { notes: crud.notes, posts: crud.posts },
    procedures: { notes: { count }, posts: crud.posts },
  });
  const { procedures, paths } = api["~svc"];
  for (const name of ["notes.list", "notes.count", "posts.list"]) expect([...procedures.keys()]).toContain(name);
  expect([paths.has("notes.list"), paths.get("notes.count"), paths.has("posts.list")]).toEqual([
    false,
    ["notes", "count"],
    true,
  ]);
  expect(api["~svc"].crud).toHaveLength(2);
});
