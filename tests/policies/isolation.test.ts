// If this file fails, someone can read or change rows that are not theirs.
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

type TableName = "notes" | "posts" | "guestbook" | "announcements";
const tables = {
  notes: schema.notes,
  posts: schema.posts,
  guestbook: schema.guestbook,
  announcements: schema.announcements,
};

// The same four operations by two more ways: handlers that use ctx.db without any condition on the owner, so that only
// the policies protect the row.
const target = v.object({ table: v.string(), id: v.any() });
const by = (input: { table: string; id?: unknown }) => {
  const table = tables[input.table as TableName] as typeof schema.notes;
  const id = input.table === "announcements" ? BigInt(input.id as string) : input.id;
  return { table, where: eq(table.id, id as number) };
};

const custom = {
  get: procedure.query
    .name("raw.get")
    .allowAnonymous()
    .input(target)
    .handler(async ({ context, input }) => {
      const { table, where } = by(input);
      return (await context.db.select({ id: table.id }).from(table).where(where)).length;
    }),
  list: procedure.query
    .name("raw.list")
    .allowAnonymous()
    .input(target)
    .handler(async ({ context, input }) => {
      return (await context.db.select({ id: by(input).table.id }).from(by(input).table)).length;
    }),
  update: procedure.mutation
    .name("raw.update")
    .allowAnonymous()
    .input(target)
    .handler(async ({ context, input }) => {
      const { table, where } = by(input);
      const change = { [input.table === "notes" || input.table === "posts" ? "title" : "message"]: "changed" };
      return (
        await context.db
          .update(table)
          .set(change as never)
          .where(where)
          .returning({ id: table.id })
      ).length;
    }),
  remove: procedure.mutation
    .name("raw.remove")
    .allowAnonymous()
    .input(target)
    .handler(async ({ context, input }) => {
      const { table, where } = by(input);
      return (await context.db.delete(table).where(where).returning({ id: table.id })).length;
    }),
};

const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
const routes = Object.fromEntries(
  (["get", "list", "update", "remove"] as const).map((operation) => [
    operation,
    httpRoute.post
      .path(`/raw/${operation}`)
      .allowAnonymous()
      .input(target)
      .handler(async (call) => ({
        body: { count: await custom[operation]["~svc"].procedure.run({ ...call, outcome: {} } as never) },
      })),
  ]),
);

const db = database();
const svc = service(db, apiWith({ procedures: custom, httpRoutes: routes }));
let users: Record<"ann" | "bob", User>;

beforeAll(async () => {
  users = { ann: await svc.signUp("ann"), bob: await svc.signUp("bob") };
});

/** Ann's row, or for tables without owners one that the administrator inserted. */
async function givenRow(table: TableName): Promise<unknown> {
  const insert = {
    notes: `insert into notes (user_id, title) values ($1, 'private') returning id`,
    posts: `insert into posts (user_id, title) values ($1, 'public') returning id`,
    guestbook: `insert into guestbook (message) values ('hello' || $1) returning id`,
    announcements: `insert into announcements (message) values ('news' || $1) returning id`,
  };
  const [row] = await db.sql(insert[table], [users.ann.id]);
  return row?.id;
}

// Who may do what with Ann's row. "401" and "404" are answers of CRUD. By the other ways a refusal is a statement that
// finds no row, or one that PostgreSQL does not let the role run.
const may: Record<TableName, Record<"ann" | "bob" | "nobody", string>> = {
  //               list,get,update,remove
  notes: { ann: "yes yes yes yes", bob: "no no no no", nobody: "401 401 401 401" },
  posts: { ann: "yes yes yes yes", bob: "yes yes no no", nobody: "yes yes 401 401" },
  guestbook: { ann: "yes yes yes yes", bob: "yes yes yes yes", nobody: "yes yes yes yes" },
  announcements: { ann: "yes yes 403 403", bob: "yes yes 403 403", nobody: "401 401 401 401" },
};

const cases = Object.entries(may).flatMap(([table, roles]) =>
  Object.entries(roles).flatMap(([who, answers]) =>
    ["list", "get", "update", "remove"].flatMap((operation, index) =>
      ["crud", "procedure", "route"].map((way) => ({
        table: table as TableName,
        who: who as "ann" | "bob" | "nobody",
        operation: operation as "list" | "get" | "update" | "remove",
        way,
        expected: answers.split(" ")[index] as "yes" | "no" | "401" | "403",
      })),
    ),
  ),
);

describe("a row of Ann's", () => {
  test.for(cases)(
    "$table: $who may $operation by $way: $expected",
    async ({ table, who, operation, way, expected }) => {
      await db.sql(`truncate ${table}`);
      const id = String(await givenRow(table));
      const before = await db.snapshot(table);
      const user = who === "nobody" ? null : users[who];

      const seen =
        way === "crud" ? await byCrud(user, table, operation, id) : await byHandler(way, user, table, operation, id);

      expect(seen).toBe(expected === "yes" ? "yes" : seenRefusal(way, operation, expected));
      if (expected !== "yes") expect(await db.snapshot(table)).toEqual(before); // nothing moved behind the refusal
    },
  );
});

const seenRefusal = (way: string, operation: string, expected: string) =>
  way === "crud" && expected === "no" && (operation === "update" || operation === "remove") ? "404" : expected;

async function byCrud(user: User | null, table: TableName, operation: string, id: string) {
  const key = table === "notes" || table === "guestbook" ? Number(id) : id;
  const change = table === "notes" || table === "posts" ? { title: "changed" } : { message: "changed" };
  const { status, body } = await (operation === "list" || operation === "get"
    ? svc.query(user, `${table}.${operation}`, operation === "list" ? undefined : { id: key })
    : svc.mutate(user, `${table}.${operation}`, { id: key, ...(operation === "update" && change) }));
  if (status !== 200) return String(status);
  if (operation === "list") {
    expect(body.json.total).toBe(body.json.data.length); // a count must not tell of rows that the page hides
    return body.json.total === 1 ? "yes" : "no";
  }
  return body.json === null ? "no" : "yes";
}

async function byHandler(way: string, user: User | null, table: TableName, operation: string, id: string) {
  const key = table === "notes" || table === "guestbook" ? Number(id) : id;
  const input = { table, id: key };
  if (way === "route") {
    const { status, body } = await svc.fetch(`/raw/${operation}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(user) },
      body: JSON.stringify(input),
    });
    return status === 200 ? (body.count === 1 ? "yes" : "no") : String(status);
  }
  const send = operation === "list" || operation === "get" ? svc.query : svc.mutate;
  const { status, body } = await send.call(svc, user, `raw.${operation}`, input);
  return status === 200 ? (body.json === 1 ? "yes" : "no") : String(status);
}

describe("what is inserted", () => {
  test("belongs to the caller, whatever the input claims", async () => {
    const { body } = await svc.mutate(users.bob, "notes.create", { title: "mine", userId: users.ann.id, id: 4711 });
    expect(body.json.userId).toBe(users.bob.id);
    expect(body.json.id).not.toBe(4711);
  });

  test("cannot be given to someone else by an update", async () => {
    const { body } = await svc.mutate(users.bob, "notes.create", { title: "mine" });
    const changed = await svc.mutate(users.bob, "notes.update", { id: body.json.id, userId: users.ann.id, title: "x" });
    expect(changed.body.json.userId).toBe(users.bob.id);
  });

  test("by nobody into a private table is refused, also where CRUD asks no credentials", async () => {
    const answer = await svc.mutate(null, "open_notes.create", { title: "ghost" });
    expect(answer.status).toBe(401);
    expect((await svc.query(null, "open_notes.list")).status).toBe(401);
  });

  test("a table without a policy answers nobody but the system", async () => {
    await db.sql("insert into vault (secret) values ('x')");
    await db.sql("grant select on vault to svc_authenticated"); // a careless grant alone must not open it
    const client = await db.connect("request");
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
      "x",
    ]);
    expect((await client.query("select * from vault")).rows).toEqual([]);
    expect((await (await db.connect("system")).query("select * from vault")).rows).toHaveLength(1);
  });
});
