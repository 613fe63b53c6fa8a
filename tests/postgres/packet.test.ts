// If this file fails, a call that is sent in one packet with its identity runs without it, leaves it behind for the next
// caller of the connection, or makes the connection useless after an error.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enterPlanning, seeing } from "../../src/crud/prepared-read.ts";
import { maxPrepared } from "../../src/postgres/kept-statements.ts";
import { type Step, sendPacket } from "../../src/postgres/packet.ts";
import { database } from "../support/database.ts";

const db = database();
let client: pg.Client;
beforeAll(async () => {
  await db.sql(`
    create table owned (id int primary key, user_id text not null);
    alter table owned enable row level security;
    create policy own on owned to svc_authenticated
      using (user_id = svc.current_user_id()) with check (user_id = svc.current_user_id());
    grant select, insert on owned to svc_authenticated, svc_anonymous;
    insert into owned values (1, 'ann'), (2, 'bob')`);
  client = new pg.Client({ connectionString: db.url("request"), pipeline: true } as pg.ClientConfig);
  await client.connect();
});
afterAll(() => client.end());

const as = (user: string, role = "svc_authenticated") => ({
  name: "enter",
  text: enterPlanning.text,
  values: [user, role],
});
const ids = { name: "ids", text: "select json_agg(id order by id)::text from owned", values: [] };
const who = {
  name: "who",
  text: "select json_build_array(current_user, svc.current_user_id(), current_setting('search_path'))::text",
  values: [],
};
const send = async (enter: Step, answer: Step) => (await sendPacket(client, enter, answer))[0]?.[0] ?? null;
/** What a statement of its own sees on the connection. */
const outside = async () => {
  const text =
    "select current_user as role, current_setting('svc.user_id', true) as id, current_setting('plan_cache_mode') as plan";
  return (await client.query(text)).rows[0];
};
const nobody = { role: "svc_request", id: "", plan: "auto" };

test("a caller sees the rows of that caller, and the role is left with the packet", async () => {
  expect(await send(as("ann"), ids)).toBe("[1]");
  expect(await outside()).toEqual(nobody);
  expect(await send(as("bob"), ids)).toBe("[2]");
  expect(await send(as("", "svc_anonymous"), { ...ids, name: "ids anonymous" })).toBe(null);
  expect(JSON.parse((await send(as("ann"), who)) ?? "")).toEqual([
    "svc_authenticated",
    "ann",
    "pg_catalog, public, extensions, pg_temp",
  ]);
  expect(await outside()).toEqual(nobody);
});

test("calls that are under way together keep apart", async () => {
  const users = Array.from({ length: 60 }, (_, index) => (index % 2 ? "bob" : "ann"));
  const answers = await Promise.all(users.map((user) => send(as(user), ids)));
  expect(answers).toEqual(users.map((user) => (user === "ann" ? "[1]" : "[2]")));
});

test("behind the answer the login itself tells which tables it was read from", async () => {
  await db.sql("alter publication svc add table owned");
  const notices: string[] = [];
  client.on("notice", ({ message }) => notices.push(message ?? ""));
  const [leave] = seeing;
  if (!leave) throw new Error("There is no such step.");
  const read = {
    name: "read",
    text: "select current_user, array_to_json((svc.tables_read()).tables)::text",
    values: [],
  };
  const rows = await sendPacket(client, as("ann"), ids, [leave, read]);
  expect(rows).toEqual([["[1]"], null, ["svc_request", '["public.owned"]']]);
  await expect(send(as("ann"), { ...read, name: "read early" })).rejects.toMatchObject({ code: "42501" });
  expect(await outside()).toEqual(nobody);
  expect(notices).toEqual([]);
});

test("without the first statement the second may do nothing", async () => {
  const text = "select id from public.owned";
  await expect(client.query(text)).rejects.toMatchObject({ code: "42501" });
  await expect(client.query({ name: "ids", text: ids.text })).rejects.toMatchObject({ code: "42P01" });
});

describe("after an error", () => {
  const write = (id: number, user: string) => ({
    name: "write",
    text: "insert into owned values ($1::int, $2) returning id::text",
    values: [String(id), user],
  });

  test("of the first statement the second is not run", async () => {
    await expect(send(as("ann", "nobody at all"), write(3, "ann"))).rejects.toMatchObject({
      code: "22023",
    });
    await expect(send(as("ann", "postgres"), write(3, "ann"))).rejects.toMatchObject({ code: "42501" });
    expect(await db.sql("select from owned where id = 3")).toHaveLength(0);
    expect(await outside()).toEqual(nobody);
  });

  test("of the second, nothing of the packet stays", async () => {
    await expect(send(as("ann"), write(3, "bob"))).rejects.toMatchObject({ code: "42501" });
    expect(await outside()).toEqual(nobody);
    expect(await db.sql("select from owned where id = 3")).toHaveLength(0);
    expect(await send(as("ann"), write(3, "ann"))).toBe("3");
  });

  test("a statement that PostgreSQL could not read is read anew, and the others stay prepared", async () => {
    const late = { name: "late", text: "select count(*)::text from not_yet", values: [] };
    const another = { ...as("ann"), name: "another enter" };
    await expect(send(another, late)).rejects.toMatchObject({ code: "42P01" });
    await expect(send(another, late)).rejects.toMatchObject({ code: "42P01" });
    await db.sql("create table not_yet (); grant select on not_yet to svc_authenticated");
    expect(await send(another, late)).toBe("0");
    expect(await send(another, late)).toBe("0");
  });

  test("of one call, others on the connection are answered", async () => {
    const calls = [ids, { name: "bad", text: "select 1 / $1::int", values: ["0"] }, ids].map((answer) =>
      send(as("bob"), answer),
    );
    const results = await Promise.allSettled(calls);
    expect(results.map((result) => (result.status === "fulfilled" ? result.value : result.reason.code))).toEqual([
      "[2]",
      "22012",
      "[2]",
    ]);
  });
});

test("a connection keeps a bounded number of statements, and prepares the others again", async () => {
  const numbered = (number: number) => ({ name: `number ${number}`, text: `select '${number}'`, values: [] });
  for (let number = 0; number < maxPrepared + 20; number++) {
    expect(await send(as("ann"), numbered(number))).toBe(String(number));
  }
  const { rows } = await client.query("select name from pg_prepared_statements where name like 'number %'");
  expect(rows).toHaveLength(maxPrepared);
  expect(await send(as("ann"), numbered(0))).toBe("0");
});
