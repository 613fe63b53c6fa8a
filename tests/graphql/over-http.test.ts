/** GraphQL over HTTP: media types and statuses, checked by the audits of the standard's own library. */
import { serverAudits } from "graphql-http";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const app = service(db);
/** Optional in the standard: operations by GET, which an image or a link of any page could send. */
const unsupported = ["5A70", "D6D5", "6A70"];
const audits = serverAudits({ url: () => `${app.url}/api/graphql` });

test.each(audits.filter(({ id }) => !unsupported.includes(id)))("$id $name", async ({ fn }) => {
  const result = await fn();
  const body = result.status === "ok" ? null : await result.response.text();
  expect(result, String(body)).toMatchObject({ status: "ok" });
});

const own = "application/graphql-response+json";
const plain = "application/json";
const send = (accept: string | undefined, body: object, headers: Record<string, string> = {}) =>
  app.fetch("/api/graphql", {
    method: "POST",
    headers: { "content-type": plain, ...(accept && { accept }), ...headers },
    body: JSON.stringify(body),
  });
const typeOf = ({ headers }: { headers: Headers }) => headers.get("content-type");

test.each([
  [undefined, plain],
  ["*/*", plain],
  ["text/html", plain],
  [`${own}, ${plain}`, own],
  [`${plain}, ${own}; charset=utf-8`, own],
  [`${own};q=0.9, ${plain}`, plain],
  [`${own};q=0`, plain],
  [`${own};q=x`, plain],
])("for Accept %s the answer is %s", async (accept, type) => {
  expect(typeOf(await send(accept, { query: "{ __typename }" }))).toBe(`${type}; charset=utf-8`);
});

const refused: [what: string, body: object][] = [
  ["a document that is not valid", { query: "{ secrets { id } }" }],
  ["an operation that is too large", { query: `{ ${"__typename ".repeat(1000)} }` }],
  ["a variable of the wrong type", { query: "query ($id: Int!) { note(id: $id) { id } }", variables: { id: null } }],
];

test.each(refused)("%s is 400 in GraphQL's own type, 200 in the plain one, and has no data", async (_what, body) => {
  const [inOwn, inPlain] = await Promise.all([send(own, body), send(plain, body)]);
  expect([inOwn.status, inPlain.status]).toEqual([400, 200]);
  for (const answer of [inOwn, inPlain]) {
    expect(Object.keys(answer.body)).toEqual(["errors"]);
    expect(answer.body.errors[0].extensions.code).toBe("VALIDATION_FAILED");
  }
});

test("what is wrong with the request itself has its status in either type", async () => {
  const query = "{ __typename }";
  const statuses = async (body: object, headers: Record<string, string> = {}) =>
    (await Promise.all([own, plain].map((type) => send(type, body, headers)))).map(({ status }) => status);
  expect(await statuses({ query, extensions: [] })).toEqual([400, 400]);
  expect(await statuses([{ query }])).toEqual([400, 400]);
  expect(await statuses({ query }, { "content-type": "text/plain" })).toEqual([415, 415]);
  const { sessionToken } = await app.signUp("ann");
  const cookie = `authlib.session_token=${encodeURIComponent(sessionToken)}`;
  expect(await statuses({ query }, { cookie, origin: "https://evil.test" })).toEqual([403, 403]);
});

test("a GET that asks for GraphQL gets neither an answer nor the page", async () => {
  const answer = await app.fetch("/api/graphql?query={__typename}", { headers: { accept: own } });
  expect([answer.status, answer.headers.get("allow"), typeOf(answer)]).toEqual([
    405,
    "POST, OPTIONS",
    `${own}; charset=utf-8`,
  ]);
});

// Clients with automatic persisted queries send the hash alone at first, and the query after this message.
test("the hash of a persisted query is answered as their protocol has it, and the query is then run", async () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: "0".repeat(64) } };
  for (const type of [own, plain]) {
    const { status, body } = await send(type, { extensions });
    expect([status, body.errors[0].message]).toEqual([400, "PersistedQueryNotSupported"]);
    expect((await send(type, { query: "{ __typename }", extensions })).body).toEqual({ data: { __typename: "Query" } });
    expect((await send(type, { extensions: { persistedQuery: null } })).body.errors[0].extensions.issues).toHaveLength(
      1,
    );
  }
});
