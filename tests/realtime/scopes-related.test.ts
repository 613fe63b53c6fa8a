// If this file fails, a list with a scope shows old rows of other tables: it includes them, and hears of no change of theirs.
import { and, eq } from "drizzle-orm";
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ContextRealtime } from "../../src/contract/realtime.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, memberRls, v } from "../../src/index.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { boards, memberships } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";

const db = database();
const cards = pgTable(
  "cards",
  {
    id: serial("id").primaryKey(),
    teamId: text("team_id").notNull(),
    boardsId: integer("boards_id")
      .notNull()
      .references(() => boards.id),
    name: text("name").notNull(),
  },
  (t) => memberRls({ through: memberships, team: t.teamId, user: memberships.userId }),
);
const schema = { ...fixture, cards };
const procedure = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(procedure, schema);
/** As docs/reference/realtime.md says: the mutation names the list, whose policies alone read the changed table. */
const remove = (invalidate: (all: ContextRealtime, team: string) => void) =>
  procedure.mutation
    .input(v.object({ userId: v.string(), team: v.string(), fails: v.optional(v.boolean()) }))
    .handler(async ({ context, input: { userId, team, fails } }) => {
      await context.unsafeDb
        .delete(memberships)
        .where(and(eq(memberships.userId, userId), eq(memberships.teamId, team)));
      invalidate(context.realtime, team);
      if (fails) throw new Error("no");
    });
const api = apiWith({
  procedures: {
    remove: remove((realtime) => realtime.invalidate("walls.list")),
    removeFrom: remove((realtime, team) => realtime.invalidate("walls.list", { filters: { teamId: team } })),
    cards: createCrud(cards, { allowedFilters: ["name"] }),
    walls: createCrud(boards, {
      prefix: "walls",
      allowedFilters: ["teamId"],
      include: ["cards"],
      aggregate: { measures: ["count"] },
      realtime: {
        policy: "public",
        resourceIdentity: "walls",
        scope: ({ filters }) => ({ team: filters?.teamId }),
        scopeFromRow: ({ row }) => ({ team: row.teamId }),
      },
    }),
  },
});
const running = new TestService(db, api, {}, schema);
const connect = sockets(running);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(
    `create table cards (id serial primary key, team_id text not null, boards_id integer not null references boards, name text not null);
     alter table cards enable row level security;
     create policy select_member on cards for select to svc_authenticated
       using (team_id = any (array(select team_id from memberships where user_id = (select svc.current_user_id()))));
     grant select on cards to svc_authenticated;`,
  );
  const made = api["~svc"].crud.filter(({ prefix }) => ["walls", "cards"].includes(prefix));
  await db.sql(made.map(crudFile).join("\n"));
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(() => running.stop());

async function member(name: string, ...teams: string[]): Promise<User> {
  const user = await running.signUp(name);
  for (const teamId of teams) await running.mutate(user, "memberships.create", { teamId });
  return user;
}

/** @returns the subscription key */
async function watch(socket: Socket, user: User, args: unknown): Promise<string> {
  const { status, body } = await running.fetch("/api/realtime/query/authorize", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(user) },
    body: JSON.stringify({ query: "walls.list", args }),
  });
  expect(status).toBe(200);
  socket.send({ type: "subscribeQuery", token: body.token });
  await socket.wait({ type: "query:subscribed", subscriptionKey: body.subscriptionKey });
  return body.subscriptionKey;
}

test("a list with a scope hears of the rows that it includes or filters by, those of the caller's teams alone", async () => {
  const ann = await member("ann", "red");
  const bob = await member("bob", "red");
  const [board] = await db.sql("insert into boards (team_id, name) values ('red', 'plans') returning id");
  const filters = { teamId: "red" };
  const asked = {
    plain: { filters },
    includes: { filters, include: { cards: true } },
    counts: { filters, include: { _count: { cards: true } } },
    filtered: { filters: { ...filters, cards: { some: { name: "x" } } } },
  };
  const open = await Promise.all(
    Object.entries(asked).map(async ([kind, args], at) => {
      const user = at % 2 ? ann : bob;
      const socket = await connect(user);
      await watch(socket, user, args);
      return { kind, socket };
    }),
  );
  const told = async () => {
    const kinds: string[] = [];
    for (const { kind, socket } of open) {
      if ((await heard(socket, db)).some(({ type }) => type === "query:invalidate")) kinds.push(kind);
    }
    return kinds;
  };
  await told();
  await db.sql("insert into cards (team_id, boards_id, name) values ('red', $1, 'first')", [board?.id]);
  expect(await told()).toEqual(["includes", "counts", "filtered"]);
  await db.sql("insert into cards (team_id, boards_id, name) values ('blue', $1, 'of others')", [board?.id]);
  expect(await told()).toEqual([]);
  await db.sql("update boards set name = 'better plans'");
  expect(await told()).toEqual(Object.keys(asked));
});

test("the aggregate of a list with a scope hears of its rows", async () => {
  const ann = await member("ann", "green");
  const socket = await connect(ann);
  const query = 'walls.aggregate::{"measures":["count"]}';
  const { body } = await running.fetch("/api/query", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(ann) },
    body: JSON.stringify({ name: "walls.aggregate", args: { measures: ["count"] }, watch: true }),
  });
  socket.send({ type: "subscribe", query, follows: body.follows });
  await socket.wait({ type: "subscribed", query });
  await db.sql("insert into boards (team_id, name) values ('green', 'counted')");
  await socket.wait({ type: "invalidate", queries: [query] });
});

test("a grant of a user with many teams fits a frame of the socket", async () => {
  const user = await member("cy");
  await db.sql(
    "insert into memberships (user_id, team_id) select $1, rpad('red' || n, 300, 'x') from generate_series(1, 90) n",
    [user.id],
  );
  const socket = await connect(user);
  const key = await watch(socket, user, { filters: { teamId: "blue" }, include: { cards: true } });
  await db.sql("insert into boards (team_id, name) values ('green', 'other')");
  const [board] = await db.sql("select id from boards limit 1");
  await db.sql("insert into cards (team_id, boards_id, name) values ('green', $1, 'of others')", [board?.id]);
  await socket.wait({ type: "query:invalidate", subscriptionKey: key }); // the table as a whole
});

test.for(["remove", "removeFrom"])(
  "a list with a scope hears of a table that only its policies read, where the mutation says so: %s",
  async (name) => {
    const [ann, bob, cy] = [await member("ann", "gold"), await member("bob", "gold"), await member("cy", "red")];
    await db.sql("insert into boards (team_id, name) values ('gold', 'plans')");
    const filters = { teamId: "gold" };
    const open = await Promise.all(
      [ann, bob, cy].map(async (user) => {
        const socket = await connect(user);
        return { user, socket, key: await watch(socket, user, { filters: { teamId: user === cy ? "red" : "gold" } }) };
      }),
    );
    const told = async () => {
      const names: string[] = [];
      for (const { user, socket, key } of open) {
        const frames = await heard(socket, db);
        if (frames.some((frame) => frame.type === "query:invalidate" && frame.subscriptionKey === key))
          names.push(String(user.email.split("-")[0]));
      }
      return names;
    };
    const rows = async () => (await running.query(bob, "walls.list", { filters })).body.json.total;
    await told();
    expect(await rows()).toBe(1);
    // Without the call nothing is told: what the page must not rely on.
    await db.sql("delete from memberships where user_id = $1 and team_id = 'gold'", [bob.id]);
    expect([await rows(), await told()]).toEqual([0, []]);
    await db.sql("insert into memberships (user_id, team_id) values ($1, 'gold')", [bob.id]);
    const input = { userId: bob.id, team: "gold" };
    expect((await running.mutate(ann, name, { ...input, fails: true })).status).toBe(500);
    expect(await told()).toEqual([]);
    expect((await running.mutate(ann, name, input)).status).toBe(200);
    expect(await told()).toEqual(name === "remove" ? ["ann", "bob", "cy"] : ["ann", "bob"]);
    expect(await rows()).toBe(0);
    await db.sql("delete from boards where team_id = 'gold'");
  },
);
