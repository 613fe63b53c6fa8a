// If this file fails, a generated write stores, refuses or counts something else than the same SQL does as its caller: policies,
// constraints, defaults and batches.
import { sql } from "drizzle-orm";
import { boolean, integer, numeric, pgPolicy, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { type Random, random } from "./random.ts";

const me = "(select svc.current_user_id())";
const myTeams = `(select team from crews where user_id = ${me})`;
/** What may be read, inserted, changed and removed differs, and so do the rows before and after a change. */
const policies = {
  select: `using (user_id = ${me} or state = 'public' or team in ${myTeams})`,
  insert: `with check (user_id = ${me} and coalesce(amount, 0) < 100)`,
  update: `using (user_id = ${me} or team in ${myTeams}) with check (state <> 'locked' and (team is null or team in ${myTeams}))`,
  delete: `using (user_id = ${me} and state <> 'kept')`,
};
const deeds = pgTable(
  "deeds",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    key: text("key").notNull().unique(),
    team: integer("team"),
    state: text("state").notNull().default("draft"),
    amount: numeric("amount", { precision: 8, scale: 2 }),
    gone: boolean("gone").notNull().default(false),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  // Those of the database decide; this one says that there are some.
  () => [pgPolicy("select_some", { for: "select", to: "public", using: sql`true` })],
);
const crud = createCrudFactory(procedure)(deeds, {
  many: true,
  upsertBy: ["key"],
  allowedFilters: ["key", "team", "state", "amount", "gone"],
});

/** The same table twice: for the service, and for SQL. */
const tableSql = (name: string) => `
  create table ${name} (id serial primary key, user_id text not null, key text not null unique, team integer,
    state text not null default 'draft', amount numeric(8,2), gone boolean not null default false, updated_at timestamptz default now());
  alter table ${name} enable row level security;
  ${Object.entries(policies)
    .map(([what, rule]) => `create policy ${what}_some on ${name} for ${what} to svc_authenticated ${rule};`)
    .join("\n")}
  grant select, delete, insert, update (key, team, state, amount, gone, updated_at) on ${name} to svc_authenticated;
  grant usage on ${name}_id_seq to svc_authenticated;`;

const db = database();
beforeAll(() =>
  db.sql(`
    create table crews (user_id text, team integer);
    alter table crews enable row level security;
    create policy own on crews to svc_authenticated using (user_id = ${me});
    grant select on crews to svc_authenticated;
    ${tableSql("deeds")} ${tableSql("mirror")}
    ${defineApi({ procedures: { crud } })["~svc"].crud.map(crudFile).join("\n")}`),
);
const svc = service(db, apiWith({ procedures: { deeds: crud } }));
const users: User[] = [];
let caller: pg.Client;
beforeAll(async () => {
  for (const name of ["ann", "bob", "cid"]) users.push(await svc.signUp(name));
  await db.sql(
    "insert into crews values ($1, 1), ($2, 1), ($2, 2), ($3, 3)",
    users.map(({ id }) => id),
  );
  caller = await db.connect("admin");
});

interface Write {
  name: string;
  args: object;
  /** Statements that do the same. RETURNING, so that the policies for reading decide about the new rows, too. */
  sql: string[];
  /** The least and the most rows that they may change. (Default: any number) */
  rows?: [least: number, most: number];
}

const keys = ["a", "b", "c", "d", "e", "f", "g"];
const literal = (value: unknown) => (typeof value === "string" ? `'${value}'` : String(value));

function values({ chance, pick }: Random): Record<string, unknown> {
  return {
    ...(chance(0.5) && { team: pick([null, 1, 2, 3]) }),
    ...(chance(0.5) && { state: pick(["draft", "public", "locked", "kept"]) }),
    ...(chance(0.4) && { amount: pick([null, "1.005", "99.99", "100", "-5", 7]) }),
    ...(chance(0.2) && { gone: chance(0.5) }),
  };
}

function matching({ pick }: Random): [filters: object, condition: string] {
  const key = pick(keys);
  return pick<[object, string]>([
    [{}, "true"],
    [{ key }, `key = '${key}'`],
    [{ team: null }, "team is null"],
    [{ state: { op: "ne", value: "public" } }, "state <> 'public'"],
    [
      { OR: [{ amount: { op: "gt", value: 5 } }, { key: { op: "in", value: [key, "a"] } }] },
      `(amount > 5 or key in ('${key}', 'a'))`,
    ],
  ]);
}

/** @param ids of the service's rows by key */
function write(choice: Random, user: User, ids: ReadonlyMap<string, number>): Write {
  const { below, pick } = choice;
  const key = pick(keys);
  const given = values(choice);
  const insert = (row: Record<string, unknown>) => {
    const columns = { user_id: user.id, ...row };
    return `insert into mirror (${Object.keys(columns)}) values (${Object.values(columns).map(literal)}) returning *`;
  };
  const set = ["updated_at = now()", ...Object.entries(given).map(([name, value]) => `${name} = ${literal(value)}`)];
  const most = pick([2, 100]);
  const [filters, condition] = matching(choice);
  const makers: (() => Write)[] = [
    () => ({ name: "create", args: { key, ...given }, sql: [insert({ key, ...given })] }),
    () => {
      const rows = Array.from({ length: 1 + below(3) }, () => ({ key: pick(keys), ...values(choice) }));
      return { name: "createMany", args: { rows }, sql: rows.map(insert) };
    },
    () => ({
      name: "update",
      args: { id: ids.get(key) ?? 0, ...given },
      sql: [`update mirror set ${set} where key = '${key}' returning *`],
      rows: [1, 1],
    }),
    () => ({
      name: "updateMany",
      args: { filters, set: given, max: most },
      sql: [`update mirror set ${set} where ${condition} returning id`],
      rows: [0, most],
    }),
    () => {
      const changes = ["updated_at = now()", ...Object.keys(given).map((name) => `${name} = excluded.${name}`)];
      const added = insert({ key, ...given }).replace(
        " returning",
        ` on conflict (key) do update set ${changes} returning`,
      );
      return { name: "upsert", args: { by: "key", row: { key, ...given } }, sql: [added] };
    },
    () => ({
      name: "remove",
      args: { id: ids.get(key) ?? 0 },
      sql: [`delete from mirror where key = '${key}'`],
      rows: [1, 1],
    }),
    () => ({
      name: "removeMany",
      args: { filters, max: most },
      sql: [`delete from mirror where ${condition} returning id`],
      rows: [0, most],
    }),
  ];
  return pick([...makers.slice(0, 5), ...makers])();
}

/** Runs the statements of all writes in one transaction. @returns the index of the write that was refused, and the status */
async function bySql(user: User, writes: Write[]) {
  await caller.query(`begin; set local role svc_authenticated; set local svc.user_id = '${user.id}'`);
  const statuses: Record<string, number> = { 42501: 403, 23505: 409 };
  for (const [index, { sql: statements, rows: [least, most] = [0, 100] }] of writes.entries()) {
    let status = 200;
    let count = 0;
    for (const statement of statements) {
      const answer = status === 200 && (await caller.query(statement).catch((error) => error));
      if (answer instanceof Error) status = statuses[(answer as pg.DatabaseError).code ?? ""] ?? 0;
      else if (answer) count += answer.rowCount;
    }
    if (status === 200 && count < least) status = 404;
    if (status === 200 && count > most) status = 400;
    if (status === 200) continue;
    await caller.query("rollback");
    return { status, index };
  }
  await caller.query("reset role; commit");
  return { status: 200, index: undefined };
}

const stored = (table: string) => db.sql(`select user_id, key, team, state, amount, gone from ${table} order by key`);

test("random writes of several users do what the same SQL does as their callers", { timeout: 3_600_000 }, async () => {
  const choice = random(Number(process.env.FUZZ_SEED ?? 20260101));
  const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 120), 20_000);
  const seen = new Map<string, number>();
  for (let run = 0; run < runs; run++) {
    const user = choice.pick(users);
    const ids = new Map(
      (await db.sql<{ key: string; id: number }>("select key, id from deeds")).map((row) => [row.key, row.id]),
    );
    // A batch of writes by keys: what it inserts has no id yet.
    const isBatch = choice.chance(0.2);
    const writes = Array.from({ length: isBatch ? 1 + choice.below(4) : 1 }, () => write(choice, user, ids)).filter(
      ({ name }) => !isBatch || !["update", "remove"].includes(name),
    );
    const calls = writes.map(({ name, args }) => ({ name: `deeds.${name}`, args }));
    const [only] = calls;
    if (!only) continue;
    const answer = isBatch
      ? await svc.post("/api/batch", { calls }, user)
      : await svc.mutate(user, only.name, only.args);
    const wanted = await bySql(user, writes);
    const { status, body } = answer;
    expect({ calls, status, index: isBatch ? body.index : wanted.index }).toEqual({ calls, ...wanted });
    expect({ calls, rows: await stored("deeds") }).toEqual({ calls, rows: await stored("mirror") });
    seen.set(`${only.name} ${status}`, (seen.get(`${only.name} ${status}`) ?? 0) + 1);
  }
  // Agreement on refusals alone would prove nothing.
  expect([...seen.keys()].filter((one) => one.endsWith("200")).length).toBeGreaterThan(5);
  expect([...seen.keys()].filter((one) => /40[0349]$/.test(one)).length).toBeGreaterThan(5);
});
