// If this file fails, an import writes rows that its user may not write, loses or doubles rows, hides a refused one, or
// changes values of an export that comes in again.
import { Readable } from "node:stream";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CrudDefinition } from "../../src/contract/crud.ts";
import { importBatch } from "../../src/transfer/import-batch.ts";
import { readRecords } from "../../src/transfer/records.ts";
import { largeKey } from "../http/failing-statements.ts";
import { database } from "../support/database.ts";
import { anyCharacter, fc } from "../support/properties.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { entriesSql, procedures, readFile, upload } from "./entries.ts";

const api = apiWith({ procedures: { ...procedures, upload, readFile } });
const db = database();
beforeAll(() => db.sql(entriesSql));
const running = service(db, api);
const startWorker = workers(db, api);

let ann: User;
let bob: User;
beforeAll(async () => {
  [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  await startWorker({ concurrency: 2 });
});
beforeEach(() => db.sql("truncate entries restart identity"));

const store = async (text: string | Buffer, user = ann, times = 1): Promise<string> =>
  (await running.mutate(user, "upload", { bytes: Buffer.from(text).toString("base64"), times })).body.json;
const begin = (storageId: string, more: object = {}, user: User | null = ann, resource = "entries") =>
  running.mutate(user, `${resource}.import`, { storageId, format: "csv", ...more });

/** Imports a file, and returns the ended run. */
async function imported(text: string | Buffer, more: object = {}, user = ann, resource = "entries") {
  const { status, body } = await begin(await store(text, user), more, user, resource);
  expect({ status, body }).toMatchObject({ status: 200 });
  const show = async () => (await running.query(user, "workflows.get", { id: body.json.id })).body.json;
  await until(async () => ["completed", "failed"].includes((await show()).status));
  return show();
}
/** The file of refused rows. */
async function refusedRows(run: { result: { refusedFile: string } }, user = ann) {
  return (await running.mutate(user, "readFile", { id: run.result.refusedFile })).body.json;
}
const rows = (columns: string, user = ann) =>
  db.sql(`select ${columns} from entries where user_id = $1 order by id`, [user.id]);

describe("an import", () => {
  test("writes rows of a spreadsheet as create does, with defaults and the user's id", async () => {
    const run = await imported('\ufefftitle,slug,size,isDone,tags\r\n"a,""b""\r\nc",o,7,TRUE,"[""x"",null]"\n,t,,,\n');
    expect(run).toMatchObject({
      status: "completed",
      result: { written: 2, refused: 0, refusedFile: null, complete: true },
    });
    expect(await rows("title, slug, size, is_done, tags")).toEqual([
      { title: 'a,"b"\r\nc', slug: "o", size: 7, is_done: true, tags: ["x", null] },
      { title: "untitled", slug: "t", size: null, is_done: false, tags: null },
    ]);
  });

  test("finds the function of a resource whose prefix has capital letters", async () => {
    expect((await imported("words\na\n", {}, ann, "Capital")).result).toMatchObject({ written: 1, refused: 0 });
  });

  test("lists refused rows with line and reason, and writes the others", async () => {
    await db.sql("insert into entries (user_id, slug) values ($1, 'taken')", [bob.id]);
    const run = await imported(
      [
        "slug,size,day",
        "good,1,",
        "wrong,x,",
        "big,5000,",
        "forbidden by the policy,1,",
        "taken,1,",
        "short",
        'in"si"de,1,',
        "late,1,2026-02-30",
        ",1,",
        "good too,2,",
        "hexadecimal,0x10,",
      ].join("\n"),
    );
    expect(run.result).toMatchObject({ written: 2, refused: 9, complete: true });
    expect(await refusedRows(run)).toBe(
      [
        "line,code,reason",
        '3,VALIDATION_FAILED,"size must be an integer between -2147483648 and 2147483647"',
        '4,BAD_REQUEST,"A value breaks a rule of its table."',
        '5,FORBIDDEN,"You may not do this."',
        '6,CONFLICT,"Something with these values already exists."',
        '7,BAD_REQUEST,"It has 1 cells, and the first line has 3."',
        '8,BAD_REQUEST,"It is not CSV: a quote stands inside a cell."',
        '9,VALIDATION_FAILED,"day must be a date as YYYY-MM-DD"',
        '10,VALIDATION_FAILED,"slug is required"',
        '12,VALIDATION_FAILED,"size must be an integer between -2147483648 and 2147483647"',
        "",
      ].join("\r\n"),
    );
    expect(await rows("slug")).toEqual([{ slug: "good" }, { slug: "good too" }]);
  });

  test("refuses a row whose key no index can hold, and writes the others", async () => {
    const run = await imported(`slug\ngood\n${largeKey}\ngood too\n`);
    expect(run).toMatchObject({ status: "completed", result: { written: 2, refused: 1, complete: true } });
    const reason = "A value is larger than its column or its index can hold.";
    expect(await refusedRows(run)).toBe(`line,code,reason\r\n3,BAD_REQUEST,"${reason}"\r\n`);
    expect(await rows("slug")).toEqual([{ slug: "good" }, { slug: "good too" }]);
  });

  test("refuses a row with a syntax error in a type that is a language, and writes the others", async () => {
    const run = await imported("words\na & b\na b\nc\n", {}, ann, "alerts");
    expect(run).toMatchObject({ status: "completed", result: { written: 2, refused: 1 } });
    expect(await refusedRows(run)).toBe(
      'line,code,reason\r\n3,BAD_REQUEST,"A value does not fit its type or column."\r\n',
    );
  });

  test("names the line where a quote opened that is not closed", async () => {
    const closed = 'slug,title,body\na,"one ""\n"" cell",\nb,"x\ny",z\n';
    for (const [last, line] of [
      ['c,"d,\ne,f,\n', 6],
      ['c,"\n",\nd,"""e\n""\n', 8],
      ['c,"1\n2","3\n', 7],
    ] as const) {
      await db.sql("truncate entries");
      const run = await imported(closed + last);
      expect(await refusedRows(run)).toMatch(
        new RegExp(
          `,BAD_REQUEST,"The quote that opens at line ${line} is not closed: nothing behind it was read."\r\n$`,
        ),
      );
      expect((await rows("slug")).map(({ slug }) => slug)).toEqual(line === 8 ? ["a", "b", "c"] : ["a", "b"]);
    }
  });

  test("names the same line where the record becomes too large", async () => {
    async function* bytes() {
      yield Buffer.from('slug\na\nb,"x\ny');
      for (let n = 0; n < 20; n++) yield Buffer.alloc(65_536, "x\n");
    }
    const reading = readRecords(bytes(), { offset: 0, line: 1 }, true, () => true);
    await expect(reading).rejects.toThrow("The quote that opens at line 3 is not closed.");
  });

  test("takes NDJSON", async () => {
    const lines = [
      '{"slug":"a","data":{"x":[1]},"id":99,"userId":"another"}',
      "[]",
      '{"slug":"b","titel":"t"}',
      "",
      '{"slug":"c"',
    ];
    const run = await imported(lines.join("\n"), { format: "ndjson" });
    expect(run.result).toMatchObject({ written: 1, refused: 3 });
    expect(await rows("id, data")).toEqual([{ id: 1, data: { x: [1] } }]);
    expect(await refusedRows(run)).toContain(
      '3,BAD_REQUEST,"It names ""titel"", which is not a column. Did you mean ""title""?"',
    );
  });

  test("refuses a row whose JSON is nested deeper than that of a call, and writes the others", async () => {
    const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const lines = [60, 100, 5_000, 100_000].map((levels) => `{"slug":"deep ${levels}","data":${deep(levels)}}`);
    const run = await imported([...lines, '{"slug":"flat"}'].join("\n"), { format: "ndjson" });
    expect(run.result).toMatchObject({ written: 2, refused: 3 });
    expect(await rows("slug")).toEqual([{ slug: "deep 60" }, { slug: "flat" }]);
    const csv = await imported(`slug,data\ndeep,"${deep(5_000)}"\nflat too,1\n`);
    expect(csv.result).toMatchObject({ written: 1, refused: 1 });
  });

  test("changes rows with the same key as upsert does, and only the user's own", async () => {
    await db.sql(
      "insert into entries (user_id, slug, title, size) values ($1, 'mine', 'old', 5), ($2, 'theirs', 'old', 5)",
      [ann.id, bob.id],
    );
    const run = await imported("slug,title\nmine,new\ntheirs,new\nother,new\n", { mode: "upsert", by: "slug" });
    expect(run.result).toMatchObject({ written: 2, refused: 1 });
    expect(await db.sql("select slug, title, size from entries order by id")).toEqual([
      { slug: "mine", title: "new", size: 5 },
      { slug: "theirs", title: "old", size: 5 },
      { slug: "other", title: "new", size: null },
    ]);
  });

  test("of many rows needs several batches, and says how far it is", async () => {
    const run = await imported(`slug\n${Array.from({ length: 2_500 }, (_, at) => `s${at}\n`).join("")}`);
    expect(run.result).toMatchObject({ written: 2_500, complete: true });
    const progress = run.steps
      .filter(({ name }: { name: string }) => name === "rows")
      .map((step: { result: { progress: object } }) => step.result.progress);
    expect(progress).toMatchObject([{ written: 1_000 }, { written: 2_000 }, { written: 2_500, percent: 100 }]);
  });

  test.each([
    ["", "The file is empty."],
    ["slug,titel\na,b\n", 'The first line names "titel", which is not a column. Did you mean "title"?'],
    ["slug,secret\na,b\n", 'The first line names "secret", which is not a column.'],
    ["slug;title\na;b\n", "The first line separates columns by semicolons, and CSV by commas."],
    ["slug\ttitle\na\tb\n", "The first line separates columns by tabs, and CSV by commas."],
    ["slug,slug\na,b\n", 'The first line names "slug" twice.'],
    ["slug,title,\na,b,\n", "The first line has an empty cell: cell 3."],
    ['slug,"",title\na,,b\n', "The first line has an empty cell: cell 2."],
    ['slug,"title\na,b\n', "The quote that opens at line 1 is not closed: nothing behind it was read."],
  ])("of %.20j fails and says why", async (text, message) => {
    const run = await imported(text);
    expect(run).toMatchObject({ status: "failed", error: { message: expect.stringContaining(message) } });
    expect(await rows("slug")).toEqual([]);
  });

  test("fails at a record above 1 MiB, such as one with an open quote", async () => {
    const { body } = await begin(await store(`slug\n"${"x".repeat(600_000)}`, ann, 3));
    const show = async () => (await running.query(ann, "workflows.get", { id: body.json.id })).body.json;
    await until(async () => (await show()).status === "failed");
    expect((await show()).error).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: "The record at line 2 is larger than 1 MiB.",
      hint: "A record is one line; in CSV, line breaks inside quotes belong to it.",
    });
  });

  test("is for the owner of the file, signed in", async () => {
    const id = await store("slug\na\n");
    expect(await begin(id, {}, null)).toMatchObject({ status: 401 });
    expect(await begin(id, {}, bob)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
    expect(await begin(crypto.randomUUID())).toMatchObject({ status: 404 });
  });

  test.each([
    [{ format: "xml" }, "format"],
    [{ mode: "upsert" }, "by"],
    [{ mode: "upsert", by: "title" }, "by"],
    [{ by: "slug" }, "by"],
    [{ storageId: "x" }, "storageId"],
    [{ other: 1 }, "other"],
  ])("refuses %j", async (more, path) => {
    const { status, body } = await begin(crypto.randomUUID(), more);
    expect({ status, text: JSON.stringify(body.issues) }).toEqual({ status: 400, text: expect.stringContaining(path) });
  });
});

const text = fc.oneof(
  fc.string({ unit: anyCharacter }).filter((one) => one.isWellFormed() && !one.includes("\0")),
  fc.constantFrom("", " ", '"', '""', ",", "\r\n", "\n", "null", "\\N", "=1+1", "'", "\uFEFF", "a\u2028b", "true", "0"),
  fc.array(fc.constantFrom('"', ",", "\n", "\r", " ", "x"), { maxLength: 8 }).map((parts) => parts.join("")),
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const row = fc.record({
  title: text,
  body: orNull(text),
  amount: orNull(fc.integer({ min: -1e9, max: 1e9 }).map((cents) => (cents / 100).toFixed(2))),
  total: orNull(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String)),
  size: orNull(fc.integer({ min: -(2 ** 31), max: 999 })),
  weight: orNull(fc.double({ noNaN: true, noDefaultInfinity: true })),
  isDone: fc.boolean(),
  day: orNull(fc.constantFrom("2026-02-28", "0001-01-01", "9999-12-31")),
  at: orNull(fc.constantFrom("2026-01-02T03:04:05.678901Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59+14:00")),
  tags: orNull(fc.array(orNull(text), { maxLength: 3 })),
  data: orNull(fc.array(fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { maxLength: 3 })),
  bytes: orNull(fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64"))),
});

test("a batch whose column a release has removed since the file was opened is refused by name", async () => {
  const crud = apiWith({ procedures })["~svc"].crud.find(({ prefix }) => prefix === "entries") as CrudDefinition;
  const opened = { size: 9, header: ["slug", "oldTitle"], place: { offset: 0, line: 2 } };
  const files = { requireOwned: async () => ({ size: 9 }), read: async () => Readable.from([Buffer.from("a,b\n")]) };
  const args = { resource: "entries", storageId: "", format: "csv", mode: "insert" } as const;
  const batch = importBatch(crud, { files, db: () => null as never }, args, opened, opened.place);
  await expect(batch).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: expect.stringContaining('names "oldTitle"'),
  });
});

describe.each(["csv", "ndjson"])("a file of %s", (format) => {
  test("that was exported comes in with the same values", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (made) => {
        await db.sql("truncate entries restart identity");
        for (const [at, one] of made.entries()) {
          const { status, body } = await running.mutate(ann, "entries.create", { slug: `s${at}`, ...one });
          expect({ status, body }).toMatchObject({ status: 200 });
        }
        const all = () =>
          rows(
            "slug, title, body, amount, total, size, weight::text, is_done, day::text, at::text, tags, data::text, bytes::text",
          );
        const before = await all();
        const file = await fetch(`${running.url}/api/export/entries.${format}?orderBy=id&orderDir=asc`, {
          headers: bearer(ann),
        });
        const bytes = Buffer.from(await file.arrayBuffer());
        await db.sql("truncate entries restart identity");
        expect((await imported(bytes, { format })).result).toMatchObject({ written: made.length, refused: 0 });
        expect(await all()).toEqual(before);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 6) },
    );
  });
});
