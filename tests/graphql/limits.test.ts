/** Limits of a request: depth, size and rate. No request can stop the service. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { asker, parts } from "./support.ts";

const db = database();
const app = service(db);
const ask = asker(app);
let ann: User;

beforeAll(async () => {
  ann = await app.signUp("ann");
  // Articles and samples refer to each other, so that queries can have any depth.
  await db.sql("alter table samples add foreign key (a_uuid) references articles (id)");
});

const deep = (levels: number) =>
  `{ samples { nodes { ${"articleByAUuid { samplesByAUuid { nodes { ".repeat(levels)} id ${"} } }".repeat(levels)} } } }`;
const many = (amount: number, field: (index: number) => string) =>
  Array.from({ length: amount }, (_, n) => field(n)).join(" ");
/** Each fragment spreads the next one ten times: 10^12 fields in a page of text. */
const bomb = `{ notes { nodes { ...f0 } } } ${many(12, (n) => `fragment f${n} on Note { ${n < 11 ? `...f${n + 1} `.repeat(10) : "id"} }`)}`;
const refused: [title: string, query: string, message: RegExp][] = [
  ["fifty levels", deep(50), /levels deep; 12 are allowed/],
  ["a thousand aliases", `{ ${many(1000, (n) => `a${n}: note(id: 1) { id }`)} }`, /2000 fields; 400 are allowed/],
  ["thirty-one aliases", `{ ${many(31, (n) => `a${n}: note(id: 1) { id }`)} }`, /31 aliases; 30 are allowed/],
  ["a thousand fields of one name", `{ notes { nodes { ${"id ".repeat(1000)} } } }`, /fields; 400 are allowed/],
  [
    "fragments in a circle",
    "{ notes { ...a } } fragment a on NoteConnection { ...b } fragment b on NoteConnection { ...a }",
    /cycle/,
  ],
  [
    "more fragments than fields are allowed",
    `{ notes { totalCount } } ${many(400, (n) => `fragment f${n} on Note { id }`)}`,
    /comes with 401 definitions; 400 are allowed/,
  ],
  [
    "fragments inside of fragments",
    `{ ${"... on Query { ".repeat(401)} __typename ${"} ".repeat(401)} }`,
    /spreads 401 fragments; 400 are allowed/,
  ],
  [
    "a value that is nested too deeply",
    `{ notes(orderBy: ${"[".repeat(9000)}${"]".repeat(9000)}) { totalCount } }`,
    /^The document is nested too deeply\.$/,
  ],
  ["fragments that multiply", bomb, /fields; 400 are allowed/],
  [
    "large pages inside large pages",
    "{ articles(first: 100) { nodes { samplesByAUuid(first: 100) { nodes { id } } } } }",
    /10100 rows; 5000 are allowed/,
  ],
  ["more signs than anybody writes", `{ ${"[".repeat(20_000)} }`, /Syntax Error/],
  ["no document", "{ notes", /Syntax Error/],
  ["a field that is not there", "{ secrets { id } }", /Cannot query field "secrets"/],
  ["a table without createCrud", "{ pages { nodes { id } } }", /Cannot query field "pages"/],
  ["a schema of the platform", "{ users { nodes { id } } }", /Cannot query field "users"/],
  [
    "several operations, none of them named",
    "query a { notes { totalCount } } query b { notes { totalCount } }",
    /not clear which operation/,
  ],
  ["nothing", "", /Syntax Error/],
  ["a subscription", "subscription { notes { nodes { id } } }", /no subscriptions/],
  [
    "thousands of orders",
    `{ notes(first: 1, orderBy: [${"TITLE_ASC ".repeat(6000)}]) { nodes { id } } }`,
    /rows; 5000 are allowed/,
  ],
];

test.each(refused)("refuses %s before anything is carried out", async (_title, query, message) => {
  const { status, data, errors } = await ask(ann, query);
  expect(status).toBe(400);
  expect(data).toBeUndefined();
  expect(errors[0].message).toMatch(message);
  expect(errors[0].extensions).toEqual({
    code: "VALIDATION_FAILED",
    requestId: expect.any(String),
    ...(/ allowed|not clear/.test(errors[0].message) && { hint: expect.any(String) }),
  });
  expect(errors.length).toBeLessThanOrEqual(6);
});

test("sizes that come as variables count as well", async () => {
  const query =
    "query ($n: Int = 100) { articles(first: $n) { nodes { samplesByAUuid(first: $n) { nodes { id } } } } }";
  expect((await ask(ann, query, { n: 5 })).errors).toEqual([]);
  expect((await ask(ann, query, {})).errors[0].message).toMatch(/rows; 5000 are allowed/);
  expect((await ask(ann, query, { n: 100 })).errors[0].message).toMatch(/rows; 5000 are allowed/);
  const sorted = "query ($by: [NoteOrderBy!]) { notes(orderBy: $by) { nodes { id } } }";
  expect((await ask(ann, sorted, { by: ["TITLE_ASC", "ID_DESC"] })).errors).toEqual([]);
  expect((await ask(ann, sorted, { by: Array(6000).fill("ID_ASC") })).errors[0].message).toMatch(/5000 are allowed/);
  // The resource limits the page to a hundred rows, so it costs a hundred.
  expect((await ask(ann, "{ notes(first: 1000000) { nodes { id } } }")).errors).toEqual([]);
});

const values: [title: string, query: string, variables?: Record<string, unknown>][] = [
  ["an integer of 40 digits", `{ note(id: ${"9".repeat(40)}) { id } }`],
  ["an integer above 32 bits", "query ($id: Int!) { note(id: $id) { id } }", { id: 2 ** 31 }],
  ["a text in place of an integer", "query ($id: Int!) { note(id: $id) { id } }", { id: "1; drop table notes" }],
  ["a uuid that is none", "query ($id: UUID!) { post(id: $id) { id } }", { id: "zzz" }],
  ["a bigint of 40 digits", "query ($id: BigInt!) { announcement(id: $id) { id } }", { id: "9".repeat(40) }],
  ["NUL in a text", "query ($id: String!) { flag(id: $id) { id } }", { id: "a\0b" }],
  ["half a surrogate pair", "query ($id: String!) { flag(id: $id) { id } }", { id: "\ud800" }],
  ["a cursor that is none", "query ($c: Cursor) { notes(after: $c) { nodes { id } } }", { c: "nonsense" }],
  ["the cursor of another list", "query ($c: Cursor) { notes(after: $c) { nodes { id } } }", { c: btoa('["x",1,2]') }],
  ["an offset below zero", "{ notes(offset: -1) { nodes { id } } }"],
  ["an offset past the end", "{ notes(offset: 2147483647) { nodes { id } } }"],
  ["first and last at once", "{ notes(first: 1, last: 1) { nodes { id } } }"],
  ["__proto__ as a variable", "query ($id: Int!) { note(id: $id) { id } }", JSON.parse('{"__proto__": {"id": 1}}')],
];

test.each(values)(
  "answers %s with the row, with nothing, or with whose fault it is",
  async (_title, query, variables) => {
    const before = app.logged.length;
    const { errors } = await ask(ann, query, variables);
    for (const { message, extensions } of errors) {
      expect(["VALIDATION_FAILED", "BAD_REQUEST"]).toContain(extensions.code);
      expect(message).not.toMatch(/select|__local|syntax for type/i);
    }
    expect(app.logged.slice(before).join("")).not.toContain('"level":50');
  },
);

test("takes one operation, as JSON, by POST", async () => {
  const post = async (body: string, type = "application/json") =>
    parts(await app.fetch("/api/graphql", { method: "POST", headers: { "content-type": type }, body }));
  const batch = await post(JSON.stringify([{ query: "{ __typename }" }, { query: "{ __typename }" }]));
  expect([batch.status, batch.errors[0].message]).toEqual([400, "One request holds one operation."]);
  expect((await post("query={__typename}", "application/x-www-form-urlencoded")).status).toBe(415);
  expect((await post("{")).errors[0].extensions.code).toBe("INVALID_JSON");
  expect((await post('{"query": 5, "variables": []}')).errors[0].extensions.issues).toHaveLength(2);
  expect((await post(JSON.stringify({ query: `{ __typename } # ${"x".repeat(2 ** 20)}` }))).status).toBe(413);
  expect((await app.fetch("/api/graphql?query={__typename}", { method: "PUT" })).status).toBe(405);
});

test("the schema is what it was; a change of it is seen here", async () => {
  const { buildClientSchema, getIntrospectionQuery, printSchema } = await import("grafast/graphql");
  const { data, errors } = await ask(null, getIntrospectionQuery({ descriptions: false }));
  expect(errors).toEqual([]);
  await expect(`${printSchema(buildClientSchema(data))}\n`).toMatchFileSnapshot("schema.txt");
});

test("Ruru comes from this service alone", async () => {
  const page = await app.fetch("/api/graphql", { headers: { accept: "text/html" } });
  expect(page.status).toBe(200);
  expect(page.body).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
  const scripts = [...page.body.matchAll(/"(\/api\/graphql\/ruru\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path);
  expect(scripts.length).toBeGreaterThan(1);
  for (const path of scripts) expect((await app.fetch(path)).status).toBe(200);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect((await app.fetch("/api/graphql/ruru/../../package.json")).status).toBe(404);
});

describe("in a service with a small limit of requests", () => {
  const few = service(db, apiWith({}), { limits: { requestsPerUser: 39 } } as object);

  test("each write of a document counts for it, also in fragments, and a document of reads counts once", async () => {
    const askFew = asker(few);
    const user = await few.signUp("ann");
    const write = (n: number) => `a${n}: createNote(input: { title: "t" }) { id }`;
    const writes = `mutation { ${many(10, write)} ... on Mutation { ...more } } fragment more on Mutation { ${many(9, (n) => write(n + 10))} }`;
    const reads = `{ ${many(20, (n) => `a${n}: note(id: 1) { id }`)} }`;
    const statuses: number[] = [];
    for (const document of [reads, reads, writes, writes]) statuses.push((await askFew(user, document)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await db.sql("select from notes where user_id = $1", [user.id])).toHaveLength(19);
  });
});

test("in production it is off, and where it is turned on, it tells nobody its schema", async () => {
  const fixture = join(import.meta.dirname, "../fixture");
  const env = { NODE_ENV: "production", AUTHLIB_SECRET: "x".repeat(32) };
  const { graphql } = await loadConfig({ cwd: fixture, env });
  expect([graphql.enabled, graphql.introspection, graphql.ruru]).toEqual([false, false, false]);
  expect((await loadConfig({ cwd: fixture, env: {} })).graphql.enabled).toBe(true);
});

test("what a service without GraphQL loads has nothing of PostGraphile in it", async () => {
  const endpoint = await readFile(join(import.meta.dirname, "../../src/graphql/endpoint.ts"), "utf8");
  expect(endpoint).not.toMatch(/^import (?!type).*(graphile|grafast|dataplan|engine|ruru)/m);
});

describe("in a service with small limits of rows and of the time of generated procedures", () => {
  const narrow = service(db, apiWith({}), { limits: { rowBytes: 65_536, generatedTimeoutMs: 100 } } as object);

  test("the schema is built: the catalog is one row of megabytes, and takes its time", async () => {
    const answer = await asker(narrow)(null, "{ __typename }");
    expect(answer).toMatchObject({ data: { __typename: "Query" }, errors: [] });
  });
});
