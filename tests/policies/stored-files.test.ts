// If this file fails, a caller can list, change or take over other users' files with the SQL of a request. Every policy
// of stored files is loosened in turn, and the behaviour must differ each time.
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const sha = "0".repeat(64);
const users = { ann: "ann", bob: "bob" };
/** By owner and visibility; "nobody" stands for a file stored by an anonymous caller. */
const ids = {
  annPrivate: "00000000-0000-4000-8000-0000000000a1",
  annPublic: "00000000-0000-4000-8000-0000000000a2",
  bobPrivate: "00000000-0000-4000-8000-0000000000b1",
  bobPublic: "00000000-0000-4000-8000-0000000000b2",
  nobodyPrivate: "00000000-0000-4000-8000-0000000000c1",
  nobodyPublic: "00000000-0000-4000-8000-0000000000c2",
};
const nameOf = new Map(Object.entries(ids).map(([name, id]) => [id, name]));

let client: pg.Client;

beforeAll(async () => {
  client = await db.connect("admin");
  for (const id of Object.values(users)) {
    await db.sql(`insert into auth."user" (id, name, email) values ($1, $1, $1 || '@example.com')`, [id]);
  }
  for (const [name, id] of Object.entries(ids)) {
    const owner = /^(ann|bob)/.exec(name)?.[0] ?? null;
    const visibility = name.endsWith("Public") ? "public" : "private";
    await db.sql(
      "insert into svc.storage_objects (id, user_id, name, size, type, visibility, sha256) values ($1, $2, $3, 1, 'a/b', $4, $5)",
      [id, owner, name, visibility, sha],
    );
  }
});

const insert = (owner: string) =>
  `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
   values (gen_random_uuid(), ${owner}, 'x', 1, 'a/b', '${sha}')`;
/** As the platform's functions store for a caller; SQL of a request cannot do this. */
const store = (owner: string) => (caller: Caller) =>
  `select svc_private.insert_object_as_${caller === "anonymous" ? "anonymous" : "authenticated"}(row(
     gen_random_uuid(), ${owner}, 'x', 1, 'a/b', 'private', '${sha}', now(), gen_random_uuid(), false)::svc.storage_objects)`;
/** Statements that SQL of a request may try. The result is the names of the rows, their number, or "no". */
const statements: Record<string, string | ((caller: Caller) => string)> = {
  list: "select id from svc.storage_objects",
  listPublic: "select id from svc.storage_objects where visibility = 'public'",
  readBobPublic: `select id from svc.find_public_object('${ids.bobPublic}')`,
  readBobPrivate: `select id from svc.find_public_object('${ids.bobPrivate}')`,
  findBoth: (caller) =>
    `select id from svc_hidden.find_objects_as_${caller === "anonymous" ? "anonymous" : "authenticated"}(
       array['${ids.bobPublic}', '${ids.bobPrivate}']::uuid[])`,
  publish: "update svc.storage_objects set visibility = 'public'",
  take: `update svc.storage_objects set user_id = '${users.ann}'`,
  rename: "update svc.storage_objects set name = 'y'",
  remove: "delete from svc.storage_objects",
  insertAnn: insert("'ann'"),
  insertBob: insert("'bob'"),
  insertNobody: insert("null"),
  storeAnn: store("'ann'"),
  storeBob: store("'bob'"),
  storeNobody: store("null"),
};
const callers = { ann: "svc_authenticated", bob: "svc_authenticated", anonymous: "svc_anonymous" } as const;
type Caller = keyof typeof callers;

// biome-ignore format: a table
const expected: Record<Caller, Record<string, string>> = {
  ann:       { list: "annPrivate annPublic", listPublic: "annPublic", readBobPublic: "bobPublic", readBobPrivate: "", findBoth: "bobPublic",
               publish: "2", take: "no", rename: "no", remove: "2", insertAnn: "no", insertBob: "no", insertNobody: "no",
               storeAnn: "1", storeBob: "no", storeNobody: "no" },
  bob:       { list: "bobPrivate bobPublic", listPublic: "bobPublic", readBobPublic: "bobPublic", readBobPrivate: "", findBoth: "bobPrivate bobPublic",
               publish: "2", take: "no", rename: "no", remove: "2", insertAnn: "no", insertBob: "no", insertNobody: "no",
               storeAnn: "no", storeBob: "1", storeNobody: "no" },
  anonymous: { list: "", listPublic: "", readBobPublic: "bobPublic", readBobPrivate: "", findBoth: "bobPublic",
               publish: "no", take: "no", rename: "no", remove: "no", insertAnn: "no", insertBob: "no", insertNobody: "no",
               storeAnn: "no", storeBob: "no", storeNobody: "1" },
};

/** The result of a caller's statement, rolled back afterwards together with `change`. */
async function attempt(caller: Caller, statement: (typeof statements)[string], change = ""): Promise<string> {
  await client.query("begin");
  try {
    await client.query(change);
    await client.query("select set_config('svc.user_id', $1, true)", [caller === "anonymous" ? "" : caller]);
    const text = typeof statement === "string" ? statement : statement(caller);
    const isStored = text.includes("insert_object_as");
    await client.query(`set local role ${isStored ? "svc_system" : callers[caller]}`);
    const { rows, rowCount, command } = await client.query(text);
    if (isStored) return String(rowCount);
    return command === "SELECT"
      ? rows
          .map(({ id }) => nameOf.get(id))
          .sort()
          .join(" ")
      : String(rowCount);
  } catch (error) {
    expect((error as { code?: string }).code).toBe("42501");
    return "no";
  } finally {
    await client.query("rollback");
  }
}

async function behaviour(change?: string): Promise<Record<Caller, Record<string, string>>> {
  const seen: Record<string, Record<string, string>> = {};
  for (const caller of Object.keys(callers) as Caller[]) {
    seen[caller] = {};
    for (const [name, statement] of Object.entries(statements)) {
      Object.assign(seen[caller], { [name]: await attempt(caller, statement, change) });
    }
  }
  return seen as Record<Caller, Record<string, string>>;
}

test("users do with their own files what is theirs to do, and find public ones by id alone", async () => {
  expect(await behaviour()).toEqual(expected);
});

test("the system finds public files by their ids, and no private ones", async () => {
  const find = "select id from svc.find_public_object($1)";
  expect(await db.sql(find, [ids.bobPublic])).toEqual([{ id: ids.bobPublic }]);
  expect(await db.sql(find, [ids.bobPrivate])).toEqual([]);
});

test.each([
  ["svc_authenticated", "ann", [ids.annPrivate, ids.annPublic]],
  ["svc_system", "ann", [ids.annPrivate, ids.annPublic]], // sees all files
  ["svc_anonymous", "", []],
])("files of %s are those of the caller, not those that it sees", async (role, user, own) => {
  await client.query("begin");
  try {
    await client.query("select set_config('svc.user_id', $1, true)", [user]);
    await client.query(`set local role ${role}`);
    const { rows } = await client.query("select id from unnest($1::uuid[]) id where svc.owns_object(id) order by id", [
      Object.values(ids),
    ]);
    expect(rows.map(({ id }) => id)).toEqual(own);
  } finally {
    await client.query("rollback");
  }
});

describe("is told apart from a policy", () => {
  const on = "on svc.storage_objects";
  const loosened: [string, string][] = [
    [
      "that shows what is public to everybody",
      `create policy p ${on} for select to svc_anonymous, svc_authenticated using (visibility = 'public')`,
    ],
    ["select_public that is missing", `drop policy select_public ${on}`],
    ["select_public for users", `alter policy select_public ${on} to svc_authenticated, svc_reader_anonymous`],
    ["select_public of what is private", `alter policy select_public ${on} using (true)`],
    ["a grant to insert", "grant insert on svc.storage_objects to svc_authenticated"],
    ["that shows what belongs to nobody", `create policy p ${on} for select to svc_anonymous using (user_id is null)`],
    ["select_owner without its owner", `alter policy select_owner ${on} using (true)`],
    ["select_owner that is missing", `drop policy select_owner ${on}`],
    ["insert_owner without its owner", `alter policy insert_owner ${on} with check (true)`],
    ["insert_owner that is missing", `drop policy insert_owner ${on}`],
    ["insert_anonymous for any owner", `alter policy insert_anonymous ${on} with check (true)`],
    ["insert_anonymous for users, too", `alter policy insert_anonymous ${on} to svc_anonymous, svc_authenticated`],
    ["insert_anonymous that is missing", `drop policy insert_anonymous ${on}`],
    ["update_owner that is missing", `drop policy update_owner ${on}`],
    [
      "update_owner without its owner, and rows to see",
      `alter policy update_owner ${on} using (true) with check (true); alter policy select_owner ${on} using (true)`,
    ],
    ["delete_owner that is missing", `drop policy delete_owner ${on}`],
    ["delete_owner without its owner", `alter policy delete_owner ${on} using (true)`],
    ["a grant on more columns", "grant update (name) on svc.storage_objects to svc_authenticated"],
    [
      "a grant on the owner's column without the check",
      `grant update (user_id) on svc.storage_objects to svc_authenticated; alter policy update_owner ${on} with check (true)`,
    ],
    ["a grant to delete for everybody", `grant delete on svc.storage_objects to svc_anonymous`],
    ["no row-level security", "alter table svc.storage_objects disable row level security"],
  ];
  test.each(loosened)("%s", async (_case, change) => {
    expect(await behaviour(change)).not.toEqual(expected);
  });
});
