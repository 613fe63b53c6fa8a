// If this file fails, a developer does not learn which policy hides a row, or a stranger learns about tables.
import { sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { explanation } from "../../src/call/hints.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { nested } from "./ignored-filters.ts";

const db = database();
const insert = procedure.mutation.name("test.insert").handler(async ({ context }) => {
  await context.db.insert(schema.notes).values({ title: "x", userId: "somebody else" });
});
const give = procedure.mutation.name("test.give").handler(async ({ context }) => {
  await context.db.update(schema.notes).set({ userId: "somebody else" });
});
const twice = procedure.mutation.name("test.twice").handler(async ({ context }) => {
  const values = { title: "x", userId: context.auth.requireAuth().user.id, id: 1_000_000 };
  await context.unsafeDb.insert(schema.notes).values([values, values]);
});
const unfit = procedure.mutation
  .name("test.unfit")
  .handler(({ context }) => context.db.$count(schema.notes, sql`${schema.notes.title}::int = 1`));
const writes = procedure.mutation
  .name("test.writes")
  .handler(({ context }) => context.read((db) => db.insert(schema.notes).values({ title: "x", userId: "x" })));
const visit = procedure.query
  .name("test.visit")
  .allowAnonymous()
  .handler(({ context }) => context.db.$count(schema.notes));
const api = apiWith({ procedures: { insert, give, twice, unfit, writes, visit } });
const developing = service(db, api);
const serving = service(db, api, { production: true } as object);

test("a write that a policy refuses says, while developing, where to look", async () => {
  for (const svc of [developing, serving]) {
    const ann = await svc.signUp("ann");
    const refused = [
      [await svc.mutate(ann, "announcements.create", { message: "x" }), "svc policies announcements lists the columns"],
      [
        await svc.mutate(ann, "test.insert"),
        "svc policies notes lists them. An insert of a handler sets the owner itself",
      ],
    ] as const;
    for (const [{ status, body }, hint] of refused) {
      expect([status, body.code, body.hint]).toEqual([
        403,
        "FORBIDDEN",
        svc === serving ? undefined : expect.stringContaining(hint),
      ]);
    }
  }
});

test("the command that explains a hidden row to an API key has the scopes of the key", () => {
  const [definition] = [...api["~svc"].procedures.values()].filter(({ name }) => name === "notes.update");
  const key = { id: "k", scopes: ["notes:read", "notes:write"] };
  const caller = { session: { id: "k", user: { id: "ann" }, key }, requestId: "r" };
  expect(explanation(definition as never, caller as never, { id: 7 })).toBe(
    "To see why: svc rls explain notes --as ann --scopes notes:read,notes:write --row 7",
  );
});

test("a visitor without a grant is told to sign in, and the developer where to look", async () => {
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.query(null, "test.visit");
    const hint = svc === serving ? undefined : expect.stringContaining("A grant is missing");
    expect([status, body.code, body.hint]).toEqual([401, "UNAUTHORIZED", hint]);
  }
});

test("an update of the owner says, while developing, that no request may make it", async () => {
  // As a generated migration grants it.
  await db.sql(
    "revoke update on notes from svc_authenticated; grant update (title, done) on notes to svc_authenticated",
  );
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.mutate(await svc.signUp("ann"), "test.give");
    const hint = svc === serving ? undefined : expect.stringContaining("no update of id, userId and createdAt");
    expect([status, body.code, body.hint]).toEqual([403, "FORBIDDEN", hint]);
  }
  await db.sql("grant update on notes to svc_authenticated");
});

test("a grant of fewer columns than callers can write refuses every create and update, and says so while developing", async () => {
  for (const svc of [developing, serving]) {
    const ann = await svc.signUp("ann");
    const { body: row } = await svc.mutate(ann, "notes.create", { title: "first" });
    await db.sql(`revoke insert, update on notes from svc_authenticated;
      grant insert (user_id, title), update (title) on notes to svc_authenticated`);
    const answers = [
      await svc.mutate(ann, "notes.create", { title: "second" }),
      await svc.mutate(ann, "notes.update", { id: row.json.id, title: "second" }),
    ];
    await db.sql("grant insert, update on notes to svc_authenticated");
    const hint = svc === serving ? undefined : expect.stringContaining("A grant is missing");
    for (const { status, body } of answers) expect([status, body.code, body.hint]).toEqual([403, "FORBIDDEN", hint]);
  }
});

test("a function of a policy that callers may not run is named while developing, with the grant to write", async () => {
  await db.sql(`create function unshared() returns boolean language sql as 'select true';
    revoke execute on function unshared() from public;
    create policy asks on notes as restrictive for select to svc_authenticated using (unshared())`);
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.query(await svc.signUp("ann"), "notes.list", {});
    const hint =
      svc === serving
        ? undefined
        : expect.stringMatching(/of the application, write beside it: grant execute on function unshared to svc_auth/);
    expect([status, body.code, body.hint]).toEqual([403, "FORBIDDEN", hint]);
  }
  await db.sql("drop policy asks on notes; drop function unshared()");
});

test("what unsafeDb refuses says, while developing, why callers are not told", async () => {
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.mutate(await svc.signUp("ann"), "test.twice");
    const hint = svc === serving ? undefined : expect.stringContaining("such as one of unsafeDb");
    expect([status, body.code, body.hint]).toEqual([500, "INTERNAL", hint]);
  }
});

test("a value that does not fit says, while developing, where more is said", async () => {
  for (const svc of [developing, serving]) {
    const ann = await svc.signUp("ann");
    await svc.mutate(ann, "notes.create", { title: "no number" });
    const { status, body } = await svc.mutate(ann, "test.unfit");
    const hint = svc === serving ? undefined : expect.stringContaining("PostgreSQL's message");
    expect([status, body.code, body.hint]).toEqual([400, "BAD_REQUEST", hint]);
  }
});

test("a write in ctx.read says where to write, and writes nothing", async () => {
  const { status, body } = await developing.mutate(await developing.signUp("ann"), "test.writes");
  expect([status, body.code, body.hint]).toEqual([500, "QUERY_WROTE", "Write with ctx.db."]);
});

test("policies that ask each other in a circle say, while developing, who names them", async () => {
  await db.sql(`create policy circle on notes for select to svc_authenticated
    using (exists (select from notes other where other.id = notes.id and other.done))`);
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.query(await svc.signUp("ann"), "notes.list");
    const hint = svc === serving ? undefined : expect.stringContaining("svc db lint");
    expect([status, body.code, body.hint]).toEqual([500, "INTERNAL", hint]);
  }
  await db.sql("drop policy circle on notes");
});

test("ids of users that are no UUIDs, where a policy takes them for such, say what to change", async () => {
  await db.sql(`alter table notes add column maker uuid default gen_random_uuid();
    create policy maker on notes as restrictive for insert to svc_authenticated
      with check (maker = (select svc.current_user_id())::uuid)`);
  for (const svc of [developing, serving]) {
    const { status, body } = await svc.mutate(await svc.signUp("ann"), "notes.create", { title: "x" });
    const hint = svc === serving ? undefined : expect.stringContaining("advanced.database.generateId");
    expect([status, body.code, body.hint]).toEqual([400, "BAD_REQUEST", hint]);
  }
  await db.sql("alter table notes drop column maker cascade");
});

test("a row that is hidden says, while developing, where to ask why", async () => {
  const refused = {
    error: "This row does not exist, or you may not change it.",
    code: "NOT_FOUND",
    requestId: expect.any(String),
  };
  for (const svc of [developing, serving]) {
    const [ann, bob] = [await svc.signUp("ann"), await svc.signUp("bob")];
    const { body: hers } = await svc.mutate(ann, "notes.create", { title: "hers" });
    const hint = `To see why: svc rls explain notes --as ${bob.id} --row ${hers.json.id}`;
    const { body } = await svc.mutate(bob, "notes.update", { id: hers.json.id, title: "his" });
    expect(body).toEqual(svc === serving ? refused : { ...refused, hint });
  }
});

test("a row that is marked as deleted says so, while developing", async () => {
  const ann = await developing.signUp("ann");
  const { body: row } = await developing.mutate(ann, "articles.create", { title: "gone" });
  await developing.mutate(ann, "articles.remove", { id: row.json.id });
  const { body } = await developing.mutate(ann, "articles.remove", { id: row.json.id });
  expect(body.hint).toMatch(new RegExp(`--row ${row.json.id}\\. Or it was removed: see its deleted_at\\.$`));
});

test("what the resource does not allow is told with each answer and once in the log, while developing", async () => {
  const filter = (name: string) =>
    `"articles.list" ignores the filter "${name}". Name it in allowedFilters of its createCrud, or leave it out.`;
  const key = (operation: string, name: string, meant = "") =>
    expect.stringMatching(
      `^"articles.${operation}" ignores "${name}", which callers cannot write. ${meant}They can write `,
    );
  for (const svc of [developing, serving]) {
    const ann = await svc.signUp("ann");
    const filters = { title: "x", OR: [{ body: "x" }], nope: 1 };
    const rows = async (watch: boolean) =>
      (await svc.post("/api/query", { name: "articles.list", args: { filters }, watch }, ann)).body;
    const notices = [(await rows(false)).notice, (await rows(true)).notice];
    const created = await svc.mutate(ann, "articles.create", { title: "one", titel: "two", userId: "x" });
    const { json: row } = created.body;
    const changed = await svc.mutate(ann, "articles.update", { ...row, nope: 1 });
    const whole = await svc.mutate(ann, "articles.update", row);
    notices.push(created.body.notice, changed.body.notice, whole.body.notice);
    const calls = [{ name: "articles.create", args: { title: "three", nope: 1 } }];
    const batch = await svc.post("/api/batch", { calls }, ann);
    notices.push(batch.body.results[0].notice);
    const told = svc.logged.map((line) => JSON.parse(line).msg).filter((text) => text?.includes(" ignores "));
    if (svc === serving) {
      expect(notices).toEqual(notices.map(() => undefined));
      expect(told).toEqual([]);
      continue;
    }
    const lists = `${filter("body")}\n${filter("nope")}`;
    const [titel, userId] = [key("create", "titel", 'Did you mean "title"\\? '), key("create", "userId")];
    expect(notices.slice(0, 2)).toEqual([lists, lists]);
    expect(notices[2].split("\n")).toEqual([titel, userId]);
    expect(notices.slice(3)).toEqual([key("update", "nope"), undefined, key("create", "nope")]);
    // The log names what is ours only: a caller may have put a secret there.
    const unnamed = (operation: string, meant = "") =>
      expect.stringMatching(`^"articles.${operation}" ignores a key of the call, which callers cannot write. ${meant}`);
    expect(told).toEqual([
      filter("body"),
      filter("nope").replace('the filter "nope"', "a filter of the call"),
      unnamed("create", 'Did you mean "title"\\? '),
      userId,
      unnamed("update"),
      unnamed("create", "They"),
    ]);
  }
});

test("an argument that a list or a get does not take is told while developing, with those that it takes", async () => {
  const ann = await developing.signUp("ann");
  const notice = async (name: string, args: object) => (await developing.query(ann, name, args)).body.notice;
  expect(await notice("articles.list", { filter: { title: "x" }, limit: 5 })).toBe(
    '"articles.list" ignores the argument "filter". Did you mean "filters"? It takes page, limit, search, orderBy, orderDir, ' +
      "filters, cursor, include, select.",
  );
  expect(await notice("notes.get", { id: 1, includes: {} })).toBe(
    '"notes.get" ignores the argument "includes". Did you mean "include"? It takes id, include, select.',
  );
  expect(await notice("guestbook.list", { search: "x" })).toBe(
    '"guestbook.list" ignores the search: its createCrud has no searchFields.',
  );
  expect(await notice("notes.get", { id: 1, select: ["id"] })).toBeUndefined();
});

test("an order by a name that is no column is told while developing, with the columns", async () => {
  const ann = await developing.signUp("ann");
  const notice = async (orderBy: string) =>
    (await developing.post("/api/query", { name: "articles.list", args: { orderBy } }, ann)).body.notice;
  expect(await notice("titel")).toMatch(
    /^"articles.list" ignores orderBy "titel". Did you mean "title"\? It takes id, /,
  );
  expect(await notice("title")).toBeUndefined();
});

test("a condition in a wrong form is told while developing, with what to write", async () => {
  const ann = await developing.signUp("ann");
  const list = async (filters: object) => (await developing.query(ann, "articles.list", { filters })).body;
  const ignores = (name: string, wrong: string) => `"articles.list" ignores the filter "${name}": ${wrong}`;
  const write = "write a value, or { op, value } with an op of eq, ne, gt, gte, lt, lte, in, nin, like, ilike.";
  const wrong: [object, string][] = [
    [{ rank: { op: "atleast", value: 1 } }, ignores("rank", write)],
    [{ OR: [{ rank: { gte: 1 } }] }, ignores("rank", write)],
    [{ title: ["a", "b"] }, ignores("title", 'write { op: "in", value: […] } for a list of values.')],
    [{ title: { op: "eq" } }, ignores("title", "its value is missing.")],
    [
      { rank: "one" },
      ignores("rank", "its value must be a whole number of 64 bits, as a decimal string, a bigint or a safe integer."),
    ],
    [{ rank: { op: "in", value: 1 } }, ignores("rank", "the operator in takes a list of values.")],
    [{ rank: { op: "like", value: "1" } }, ignores("rank", "its column has no operator like.")],
    [
      { publishedAt: "yesterday" },
      ignores("publishedAt", "its value must be an ISO 8601 timestamp, with an hour from 00 to 23."),
    ],
    [nested(6, { rank: 1 }) as object, '"articles.list" ignores groups of filters beyond 5 levels.'],
  ];
  const all = (await list({})).json.total;
  for (const [filters, notice] of wrong) {
    expect(await list(filters)).toMatchObject({ notice, json: { total: all } });
  }
  for (const filters of [
    { rank: null },
    { rank: { op: "in", value: [1, null, 2.5] } },
    { rank: "10" },
    nested(5, { rank: 1 }) as object,
    { publishedAt: { op: "ne", value: null } },
  ]) {
    expect(await list(filters)).not.toHaveProperty("notice");
  }
});
