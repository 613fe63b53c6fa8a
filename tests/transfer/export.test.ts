// If this file fails, an export shows rows or columns that the caller may not see, changes values, mixes two states of the
// table, or keeps a connection after its client has left.
import { request } from "node:http";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCrudFactory, createSvcProcedureBuilders } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { entries, entriesSql, longPrefixes, procedures } from "./entries.ts";

const db = database();
beforeAll(() => db.sql(entriesSql));
const running = service(db, apiWith({ procedures }), {
  limits: { exports: 3, idleInTransactionMs: 2_000 },
});

let ann: User;
let bob: User;
beforeAll(async () => {
  [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
});
beforeEach(() => db.sql("truncate entries, papers restart identity"));

const get = (path: string, user: User | null = ann) => running.fetch(`/api/export/${path}`, { headers: bearer(user) });
const add = (user: User, ...titles: string[]) =>
  db.sql(
    "insert into entries (user_id, slug, title, secret) select $1, t || $1, t, 'secret' from unnest($2::text[]) as t",
    [user.id, titles],
  );
const titlesOf = (ndjson: string) =>
  ndjson
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).title);
/** Transactions of exports that are open on the server. */
const open = async () =>
  Number(
    (
      await db.sql(
        "select count(*) from pg_stat_activity where datname = current_database() and query like 'select svc.read_export%' and state <> 'idle'",
      )
    )[0]?.count,
  );

describe("an export", () => {
  test("has the rows of list, in its order and with its columns, as the caller", async () => {
    await add(ann, "a", "b");
    await add(bob, "of bob");
    await db.sql("insert into entries (user_id, slug, gone) values ($1, 'gone', true)", [ann.id]);
    const { status, body, headers } = await get("entries.ndjson");
    expect(status).toBe(200);
    const listed = (await running.query(ann, "entries.list")).body.json.data;
    expect(
      body
        .split("\n")
        .slice(0, -1)
        .map((line: string) => JSON.parse(line)),
    ).toEqual(listed);
    expect(body).not.toContain("secret");
    expect(headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
    expect(headers.get("content-disposition")).toBe('attachment; filename="entries.ndjson"');
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("takes the filters, the search and the order of list", async () => {
    await add(ann, "one", "two", "three");
    // A question mark needs no encoding behind the first one (RFC 3986, section 3.4).
    expect(titlesOf((await get("entries.ndjson?search=t?w")).body)).toEqual([]);
    const filtered = encodeURIComponent(JSON.stringify({ title: { op: "in", value: ["one", "three"] } }));
    expect(titlesOf((await get(`entries.ndjson?filters=${filtered}&orderBy=title&orderDir=asc`)).body)).toEqual([
      "one",
      "three",
    ]);
    expect(titlesOf((await get("entries.ndjson?search=TW")).body)).toEqual(["two"]);
    expect(titlesOf((await get("entries.ndjson?orderBy=secret")).body)).toEqual(["three", "two", "one"]);
  });

  test("as CSV tells null from the empty text, and quotes what must be quoted", async () => {
    await db.sql(
      `insert into entries (user_id, slug, title, body, amount, total, size, weight, is_done, at, day, tags, data, bytes) values
        ($1, 'a', '', null, 1.50, 9007199254740993, -3, 0.1, true, '2026-01-02 03:04:05.678+02', '2026-01-02', '{a,"b,c",null}',
          '{"a": [1, 12345678901234567890]}', '\\x00ff'), ($1, 'b', 'x"y,z' || E'\\r\\n', ' ', null, null, null, null, false, null, null, null, null, null)`,
      [ann.id],
    );
    const { body, headers } = await get("entries.csv?orderBy=slug&orderDir=asc");
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    expect(body).toBe(
      "id,userId,slug,title,body,amount,total,size,weight,isDone,at,day,tags,data,bytes\r\n" +
        `1,${ann.id},a,"",,1.50,9007199254740993,-3,0.1,true,2026-01-02T01:04:05.678+00:00,2026-01-02,"[""a"",""b,c"",null]","{""a"": [1, 12345678901234567890]}",AP8=\r\n` +
        `2,${ann.id},b,"x""y,z\r\n"," ",,,,,false,,,,,\r\n`,
    );
  });

  test("changes cells that spreadsheets compute only when it is asked to", async () => {
    await add(ann, "=1+1", "@x", "-2", "-a");
    const cells = async (query: string) =>
      (await get(`entries.csv?orderBy=id&orderDir=asc${query}`)).body
        .split("\r\n")
        .slice(1, -1)
        .map((line: string) => line.split(",")[3]);
    expect(await cells("")).toEqual(["=1+1", "@x", "-2", "-a"]);
    expect(await cells("&spreadsheet=true")).toEqual(["'=1+1", "'@x", "-2", "'-a"]);
  });

  test.each(["\n=1", "\r=1", "\t=1", "＝1", "＋1", "－1", "＠x"])(
    "changes the cell %j, which some spreadsheets compute",
    async (cell) => {
      await add(ann, cell);
      const { body } = await get("entries.csv?spreadsheet=true");
      expect(body.replaceAll('"', "")).toContain(`,'${cell},`);
    },
  );

  test("has a byte order mark for spreadsheets, which read other files in the code page of their computer", async () => {
    const start = async (query: string) => {
      const url = new URL(`/api/export/papers.csv${query}`, running.url);
      const bytes = await (await fetch(url, { headers: bearer(ann) })).bytes();
      return Buffer.from(bytes.subarray(0, 5)).toString("latin1");
    };
    expect(await start("?spreadsheet=true")).toBe("\xef\xbb\xbfid");
    expect(await start("")).toBe("id,ti");
  });

  test("without rows is empty, with a header in CSV", async () => {
    expect((await get("papers.csv")).body).toBe("id,title\r\n");
    expect((await get("papers.ndjson")).body).toBe("");
  });

  test("is for the callers of list", async () => {
    await add(ann, "a");
    await db.sql("insert into papers (title) values ('p')");
    expect(await get("entries.csv", null)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    expect((await get("papers.csv", null)).body).toBe("id,title\r\n1,p\r\n");
  });

  test("exists only where it is declared, and answers GET", async () => {
    for (const path of ["closed.csv", "entries.xml", "entries", "nothing.csv", "entries.csv/x"]) {
      expect({ path, ...(await get(path)) }).toMatchObject({ path, status: 404, body: { code: "NOT_FOUND" } });
    }
    const { status, headers } = await running.fetch("/api/export/entries.csv", {
      method: "POST",
      headers: bearer(ann),
    });
    expect([status, headers.get("allow")]).toEqual([405, "GET, OPTIONS"]);
  });

  test.each([
    ["filter={}", "filter", "is not a parameter of this export"],
    [
      "filters={%22size%22:{%22op%22:%22like%22,%22value%22:1}}",
      "filters",
      "is no condition that this resource allows",
    ],
    ["filters={%22secret%22:1}", "filters", "is no condition that this resource allows"],
    ["filters=x", "filters", "must be JSON"],
    ["orderDir=up", "orderDir", 'must be "asc" or "desc"'],
    ["search=a&search=b", "search", "is given twice"],
    ["spreadsheet=1", "spreadsheet", "must be true or false"],
  ])("refuses %s", async (query, path, message) => {
    const { status, body } = await get(`entries.csv?${query}`);
    expect({ status, issues: body.issues }).toEqual({
      status: 400,
      issues: [{ path: expect.arrayContaining([path]), message: expect.stringContaining(message) }],
    });
  });

  // Without the search it would have all rows.
  test("refuses a search where nothing is searched", async () => {
    expect((await get("papers.csv?search=a")).body.issues).toMatchObject([{ path: ["search"] }]);
  });

  // PostgreSQL cut the names of their prepared statements off, and then had two of one name.
  test("is that of its resource, however long the prefix is", async () => {
    await db.sql("insert into papers (title) values ('a')");
    for (const prefix of longPrefixes) {
      for (const _ of [1, 2, 3]) expect(await get(`${prefix}.ndjson`, null)).toMatchObject({ status: 200 });
    }
  });

  test("refuses filters that are nested so deeply that a stack would overflow", async () => {
    const { status, body } = await get(`entries.csv?filters={%22size%22:${"[".repeat(7_000)}${"]".repeat(7_000)}}`);
    expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path: ["filters"] }] });
  });
});

/** Rows that no socket buffers as a whole. */
const wide = (rows = 60) =>
  db.sql(
    "insert into entries (user_id, slug, body) select $1, 's' || n, repeat('x', 500000) from generate_series(1, $2::int) as n",
    [ann.id, rows],
  );

/** A download that is not read until `read` is called. */
async function begin(user = ann) {
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  const asked = request(`${running.url}/api/export/entries.ndjson`, { headers: bearer(user), agent: false }, resolve);
  asked.on("error", reject).end();
  const response = await promise;
  response.pause();
  return { response, leave: () => asked.destroy() };
}

describe("a long export", () => {
  test("shows one state of the table, whatever is written meanwhile", async () => {
    await wide();
    const { response } = await begin();
    await db.sql("update entries set title = 'changed'");
    await db.sql("delete from entries where id < 30");
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    expect(titlesOf(text)).toEqual(Array(60).fill("untitled"));
  });

  test("gives its connection back when the client leaves", async () => {
    await wide();
    const { leave } = await begin();
    expect(await open()).toBe(1);
    leave();
    await until(async () => (await open()) === 0);
    expect(await get("papers.csv")).toMatchObject({ status: 200 });
  });

  test("is cut off when the client does not read", async () => {
    await wide();
    const { response } = await begin();
    await until(async () => (await open()) === 0);
    await expect(response.toArray()).rejects.toThrow("aborted");
    expect(running.logged.join("")).toContain('"code":"REQUEST_TIMEOUT"');
  });

  // Its end would look like the end of the rows.
  test("is cut off when its connection to the database is lost", async () => {
    await wide();
    const { response } = await begin();
    await db.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'select svc.read_export%'",
    );
    await expect(response.toArray()).rejects.toThrow("aborted");
    expect(await get("papers.csv")).toMatchObject({ status: 200 });
  });

  test("leaves room for those of others", async () => {
    await wide();
    const first = await begin();
    const second = await begin();
    const refused = await get("entries.csv");
    expect(refused).toMatchObject({
      status: 503,
      body: { code: "UNAVAILABLE", error: "Too many exports are under way." },
    });
    expect(refused.headers.get("retry-after")).toBe("10");
    expect((await get("entries.csv", bob)).status).toBe(200);
    for (const { leave } of [first, second]) leave();
    await until(async () => (await open()) === 0);
    await until(async () => (await get("papers.csv")).status === 200);
  });
});

describe("createCrud", () => {
  const createCrud = createCrudFactory(createSvcProcedureBuilders());
  test.each([
    [{ transfer: { export: true }, methods: ["get"] }, 'transfer.export of "entries" needs methods with list'],
    [{ transfer: { import: true }, methods: ["list"] }, 'transfer.import of "entries" needs methods with create'],
    [
      { transfer: { import: true }, hooks: { beforeCreate: (data: object) => data } },
      'transfer.import of "entries" cannot run hooks.beforeCreate or beforeUpsert',
    ],
    [{ transfer: { exports: true } }, "exports"],
  ])("refuses %j", (options, message) => {
    expect(() => createCrud(entries, options as never)).toThrow(message);
  });
});
