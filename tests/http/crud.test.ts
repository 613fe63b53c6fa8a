// If this file fails, generated CRUD stores or shows other values than the caller sent, or pages skip rows.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Answer, service, type User } from "../support/service.ts";
import { forms, time, unfit, wrong } from "./column-values.ts";

const db = database();
const svc = service(db);
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});
beforeEach(async () => {
  await db.sql("truncate notes, posts, samples, guestbook, announcements restart identity");
});

const query = (name: string, args?: unknown) => svc.query(ann, name, args);
const mutate = (name: string, args?: unknown) => svc.mutate(ann, name, args);
const paths = ({ body }: Answer) => body.issues?.map(({ path }: { path: unknown }) => path);
const addNotes = (count: number) =>
  db.sql(
    "insert into notes (user_id, title, created_at) select $1, 'n' || n, timestamptz '2026-01-01Z' + n * interval '1 s' from generate_series(1, $2) n",
    [ann.id, count],
  );

describe("list", () => {
  test.for([
    [undefined, 20, "n250"],
    [null, 20, "n250"],
    [{}, 20, "n250"],
    [{ page: null, limit: null }, 20, "n250"],
    [{ limit: 3 }, 3, "n250"],
    [{ limit: 100 }, 100, "n250"],
    [{ limit: 101 }, 100, "n250"],
    [{ limit: 1e300 }, 100, "n250"],
    [{ limit: 0 }, 1, "n250"],
    [{ limit: -5 }, 1, "n250"],
    [{ limit: 2.9 }, 2, "n250"],
    [{ page: 2 }, 20, "n230"],
    [{ page: 0 }, 20, "n250"],
    [{ page: -1e300 }, 20, "n250"],
    [{ page: 1.9 }, 20, "n250"],
    [{ page: 13 }, 10, "n10"],
    [{ page: 14 }, 0, undefined],
    [{ page: 1e300, limit: 100 }, 0, undefined],
    [{ page: 3, limit: 100 }, 50, "n50"],
    [{ unknown: 1, search: "x", orderBy: "none" }, 20, "n250"],
  ] as const)("with %j: %i rows from %s, of 250", async ([args, length, first]) => {
    await addNotes(250);
    const { status, body } = await query("notes.list", args);
    expect({ status, total: body.json.total, length: body.json.data.length, first: body.json.data[0]?.title }).toEqual({
      status: 200,
      total: 250,
      length,
      first,
    });
  });

  test("is the newest first, and pages neither skip nor repeat rows of the same instant", async () => {
    await db.sql(
      "insert into notes (user_id, title, created_at) select $1, n, timestamptz '2026-01-01Z' + (n % 3) * interval '1 s' from generate_series(1, 31) n",
      [ann.id],
    );
    const seen: { id: number; createdAt: string }[] = [];
    for (const page of [1, 2, 3, 4]) seen.push(...(await query("notes.list", { page, limit: 10 })).body.json.data);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(31);
    expect(seen).toEqual(seen.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt) || b.id - a.id));
  });

  test("without a createdAt column is in descending order of ids", async () => {
    for (const message of ["a", "b", "c"]) await mutate("guestbook.create", { message });
    expect((await query("guestbook.list")).body.json).toEqual({
      data: [
        { id: 3, message: "c" },
        { id: 2, message: "b" },
        { id: 1, message: "a" },
      ],
      total: 3,
    });
  });

  test("of nothing is empty, with a total of 0", async () => {
    expect((await query("notes.list")).body).toEqual({ json: { data: [], total: 0 } });
  });

  test.for([
    [{ page: "1" }, [["page"]]],
    [{ limit: true }, [["limit"]]],
    [{ page: [], limit: {} }, [["page"], ["limit"]]],
    [{ json: { limit: null }, meta: [[2, "limit"]] }, [["limit"]]],
    ["text", [[]]],
    [[], [[]]],
    [7, [[]]],
  ])("with %j is refused", async ([args, expected]) => {
    const answer = await query("notes.list", args);
    expect([answer.status, answer.body.code, paths(answer)]).toEqual([400, "VALIDATION_FAILED", expected]);
  });
});

describe("an id", () => {
  const missing = "00000000-0000-4000-8000-000000000000";
  const kinds = {
    notes: {
      row: { title: "x" },
      missing: 2147483647,
      wrong: ["1", 1.5, 2147483648, -2147483649, true, [1], {}, null, undefined],
    },
    posts: {
      row: { title: "x" },
      missing,
      wrong: [1, "x", `${missing}0`, "", "0000000-00000-4000-8000-000000000000", null, undefined],
    },
    samples: { row: {}, missing, wrong: [1, "x", null] },
  };
  test.for(Object.entries(kinds))(
    "of %s finds its row, and nothing else does",
    async ([table, { row, missing, wrong }]) => {
      const created = (await mutate(`${table}.create`, row)).body.json;
      expect(typeof created.id).toBe(typeof missing);
      expect((await query(`${table}.get`, { id: created.id })).body.json).toEqual(created);
      expect(await query(`${table}.get`, { id: missing })).toMatchObject({ status: 200, body: { json: null } });
      expect((await query(`${table}.get`, {})).body.issues).toEqual([{ path: ["id"], message: "is required" }]);
      for (const operation of ["update", "remove"]) {
        expect(await mutate(`${table}.${operation}`, { id: missing })).toMatchObject({
          status: 404,
          body: { code: "NOT_FOUND" },
        });
      }
      for (const id of wrong) {
        for (const answer of [
          await query(`${table}.get`, { id }),
          await mutate(`${table}.update`, { id }),
          await mutate(`${table}.remove`, { id }),
        ]) {
          expect([id, answer.status, paths(answer)]).toEqual([id, 400, [["id"]]]);
        }
      }
      expect((await mutate(`${table}.remove`, { id: created.id })).body).toEqual({ json: { id: created.id } });
      expect((await mutate(`${table}.remove`, { id: created.id })).status).toBe(404);
    },
  );

  test.for([
    [{ json: { id: "9007199254740993" }, meta: [[0, "id"]] }, "9007199254740993"],
    [{ id: "9007199254740993" }, "9007199254740993"],
    [{ id: 7 }, "7"],
    [{ id: "7" }, "7"],
  ])("of 64 bits may be sent as %j and is a string in the answer", async ([args, id]) => {
    await db.sql(
      "insert into announcements (id, message) values (7, 'x'), (9007199254740993, 'y'), (9007199254740992, 'z')",
    );
    expect((await query("announcements.get", args)).body.json.id).toBe(id);
  });
  test.for(["7.0", " 7", "9223372036854775808", "1e3", 2 ** 53, 7.5, "", true])("of 64 bits is not %j", async (id) => {
    expect(paths(await query("announcements.get", { id }))).toEqual([["id"]]);
  });

  test("of a row that is hidden and of one that is missing get the same answer", async () => {
    const bob = await svc.signUp("bob");
    const [row] = await db.sql("insert into notes (user_id, title) values ($1, 'private') returning id", [bob.id]);
    // The hint only contains the requested id.
    const plain = ({ status, body }: Answer) => ({
      status,
      body: { ...body, requestId: "", hint: body.hint?.replace(/--row \d+/, "--row ID") },
    });
    for (const operation of ["update", "remove"]) {
      const hidden = await mutate(`notes.${operation}`, { id: row?.id, title: "x" });
      expect(plain(hidden)).toEqual(plain(await mutate(`notes.${operation}`, { id: 2147483647, title: "x" })));
    }
    expect(plain(await query("notes.get", { id: row?.id }))).toEqual(
      plain(await query("notes.get", { id: 2147483647 })),
    );
  });
});

describe("a column", () => {
  test.for(forms)("%s takes %j", async ([column, sent, wire = sent]) => {
    const created = (await mutate("samples.create", { [column]: sent })).body.json;
    expect(time(created[column])).toEqual(time(wire));
    const updated = (await mutate("samples.update", { id: created.id, [column]: sent })).body.json;
    expect(updated).toEqual(created);
    expect((await query("samples.get", { id: created.id })).body.json).toEqual(created);
    expect((await query("samples.list")).body.json.data).toEqual([created]);
  });

  test("takes dates and bigints in their own encoding", async () => {
    const encoded = {
      json: {
        aBigint: "12",
        anInstant: "2026-01-02T03:04:05.678Z",
        aDate: "2026-01-02T00:00:00.000Z",
        aTimestamp: "2026-01-02T03:04:05.678Z",
      },
      meta: [
        [0, "aBigint"],
        [1, "anInstant"],
        [1, "aDate"],
        [1, "aTimestamp"],
      ],
    };
    const { body } = await mutate("samples.create", encoded);
    expect({
      ...body.json,
      anInstant: time(body.json.anInstant),
      aTimestamp: time(body.json.aTimestamp),
    }).toMatchObject({ ...encoded.json, aDate: "2026-01-02" });
  });

  test("gives timestamps as ISO 8601 in UTC", async () => {
    const { body } = await mutate("samples.create", {
      anInstant: "2026-01-02T05:04:05+02:00",
      aTimestamp: "2026-01-02T03:04:05",
    });
    for (const column of ["anInstant", "aTimestamp"])
      expect(body.json[column]).toMatch(/^2026-01-02T03:04:05(\.0+)?(Z|\+00:00)$/);
  });

  test.for(wrong)("%s refuses %j", async ([column, values, path = [column]]) => {
    const { id } = (await mutate("samples.create", {})).body.json;
    for (const value of values) {
      for (const answer of [
        await mutate("samples.create", { [column]: value }),
        await mutate("samples.update", { id, [column]: value }),
      ]) {
        expect([value, answer.status, answer.body.code, paths(answer)]).toEqual([
          value,
          400,
          "VALIDATION_FAILED",
          [path],
        ]);
      }
    }
    expect((await query("samples.list")).body.json.total).toBe(1);
  });
  test.for(unfit)("%s refuses %j, which does not fit its type, by name", async ([column, value]) => {
    const answer = await mutate("samples.create", { [column]: value });
    expect([answer.status, answer.body.code, paths(answer)]).toEqual([400, "VALIDATION_FAILED", [[column]]]);
  });
});

describe("create and update", () => {
  test("leave absent columns to their defaults, and keep them", async () => {
    const created = (await mutate("samples.create", {})).body.json;
    expect(created).toMatchObject({ aText: "it's a default", anInteger: null, someTags: null, userId: ann.id });
    const changed = (await mutate("samples.update", { id: created.id, anInteger: 5 })).body.json;
    expect(changed).toEqual({ ...created, anInteger: 5 });
    expect((await mutate("samples.update", { id: created.id })).body.json).toEqual(changed);
  });

  test("take null as a value, where the column does", async () => {
    const all = Object.fromEntries(forms.map(([column, sent]) => [column, sent]));
    const nulls = Object.fromEntries(forms.map(([column]) => [column, null]));
    const created = (await mutate("samples.create", { ...nulls })).body.json;
    expect(created).toMatchObject(nulls);
    const { id } = (await mutate("samples.create", all)).body.json;
    expect((await mutate("samples.update", { id, ...nulls })).body.json).toMatchObject({ id, ...nulls });
    expect(paths(await mutate("notes.create", { title: null, done: null }))).toEqual([["title"], ["done"]]);
  });

  test.for([
    [{}, [["title"]]],
    [undefined, [[], ["title"]]],
    [null, [[], ["title"]]],
    ["x", [[], ["title"]]],
    [[], [[], ["title"]]],
    [{ title: 1, done: "x", priority: 0.5 }, [["title"], ["done"], ["priority"]]],
  ])("report every mistake of %j", async ([args, expected]) => {
    const answer = await mutate("notes.create", args);
    expect([answer.status, paths(answer)]).toEqual([400, expected]);
  });

  test("ignore unknown and managed keys, whatever they hold", async () => {
    const ignored = { id: "x", userId: 7, createdAt: {}, updatedAt: "never", unknown: [], user_id: "x", toString: 1 };
    const created = await mutate("notes.create", { title: "a", ...ignored });
    expect(created.body.json).toMatchObject({ id: 1, userId: ann.id, title: "a", done: false, priority: 0 });
    const { id: _, ...rest } = ignored;
    const { body } = await mutate("notes.update", { id: 1, title: "b", ...rest });
    expect(body.json).toMatchObject({ ...created.body.json, title: "b", updatedAt: expect.any(String) });
  });

  test("set updatedAt to the time of the update, and createdAt once", async () => {
    await db.sql(
      "insert into notes (user_id, title, created_at, updated_at) values ($1, 'old', '2020-01-01Z', '2020-01-01Z')",
      [ann.id],
    );
    const [{ now } = {}] = await db.sql<{ now: Date }>("select now()");
    const { body } = await mutate("notes.update", { id: 1, done: true });
    expect(new Date(body.json.createdAt)).toEqual(new Date("2020-01-01Z"));
    expect(Date.parse(body.json.updatedAt)).toBeGreaterThanOrEqual(Number(now));
  });

  test("at once lose nothing: fifty rows, fifty ids", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => mutate("notes.create", { title: `n${n}` })));
    expect(new Set(answers.map(({ body }) => body.json.id)).size).toBe(50);
    const stored = await db.sql("select title from notes where user_id = $1", [ann.id]);
    expect(new Set(stored.map(({ title }) => title))).toEqual(new Set(answers.map(({ body }) => body.json.title)));
  });
});
