// If this file fails, anybody ends a call, or the process, with a few kilobytes of brackets: a recursive reader has no stack left.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { isNestedDeeper, maxJsonDepth, requireShallowJson } from "../../src/http/body.ts";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { createMcpServer } from "../../src/studio/mcp-server.ts";
import { studio } from "../studio/test-studio.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";
import { entriesSql, procedures, readFile, upload } from "../transfer/entries.ts";

const route = createSvcHttpRouteBuilders()
  .post.path("/api/echo")
  .allowAnonymous()
  .handler(async ({ request }) => ({ body: { read: await request.json() } }));
const db = database();
beforeAll(() => db.sql(entriesSql));
const api = apiWith({ procedures: { ...procedures, upload, readFile }, httpRoutes: { echo: route } });
const app = service(db, api);
const startWorker = workers(db, api);
const panels = studio(db);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  panels.agentSecret = "s".repeat(43);
});

const lists = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** The values in every place of a message that a caller chooses. */
const doors: Record<string, [path: string, message: (deep: string) => string]> = {
  "a query": ["/api/query", (deep) => `{"name":"notes.list","args":{"filters":${deep}}}`],
  "a query by its path": ["/api/query/notes.list", (deep) => `{"args":${deep}}`],
  "a mutation": ["/api/mutation", (deep) => `{"name":"samples.create","args":{"title":${deep}}}`],
  "an encoded mutation": ["/api/mutation", (deep) => `{"json":{"name":"x","args":${deep}},"meta":[]}`],
  "the encoding of arguments": ["/api/mutation", (deep) => `{"name":"x","args":{"json":1,"meta":${deep}}}`],
  "a batch": ["/api/batch", (deep) => `{"calls":[{"name":"notes.list","args":${deep}}]}`],
  "variables of GraphQL": ["/api/graphql", (deep) => `{"query":"{ __typename }","variables":{"a":${deep}}}`],
  "a request for a grant": ["/api/realtime/query/authorize", (deep) => `{"query":"notes.list","args":${deep}}`],
  "a sign-in": ["/api/auth/sign-in", (deep) => `{"email":${deep},"password":"x"}`],
  "a route": ["/api/echo", (deep) => deep],
};

const post = (path: string, body: string, user: User | null = ann) =>
  app.fetch(path, { method: "POST", headers: { "content-type": "application/json", ...bearer(user) }, body });

test("the level of the deepest member counts, wherever it is", () => {
  const { tree } = fc.letrec<{ tree: unknown; leaf: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      tie("leaf"),
      fc.array(tie("tree")),
      fc.dictionary(fc.string(), tie("tree")),
    ),
    leaf: fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.boolean()),
  }));
  const depth = (value: unknown): number =>
    typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
  fc.assert(
    fc.property(tree, fc.nat(7), (value, levels) => {
      const parsed = JSON.parse(JSON.stringify(value));
      expect(isNestedDeeper(parsed, levels)).toBe(depth(parsed) > levels);
    }),
  );
  expect(isNestedDeeper(JSON.parse('{"__proto__":[[]],"length":0}'), 2)).toBe(true);
  const own: unknown[] = [];
  own.push(own);
  expect(isNestedDeeper(own, maxJsonDepth)).toBe(true);
});

describe.for([
  ["lists", lists],
  ["objects", objects],
] as const)("JSON of %s that is nested deeply", ([, nested]) => {
  const deep = nested(30_000);
  const short = nested(1_500);

  test.for(Object.entries(doors))("is refused by %s", async ([, [path, message]]) => {
    const most = /auth/.test(path) ? 1_000 : 30_000; // these bodies are shorter
    const { status, body } = await post(path, message(nested(most)));
    const error = body.errors?.[0]?.message ?? body.error;
    expect([status, error]).toEqual([400, expect.stringContaining("nested deeper than 200 levels")]);
  });

  test("is refused in a multipart call", async () => {
    const form = new FormData();
    form.set("data", `{"json":{"name":"samples.create","args":${deep}},"meta":[],"maps":[]}`);
    const { status, body } = await app.fetch("/api/mutation", { method: "POST", headers: bearer(ann), body: form });
    expect([status, body.error]).toEqual([400, expect.stringContaining("nested deeper")]);
  });

  test("is refused in the filters of an export", async () => {
    const url = `/api/export/entries.csv?${new URLSearchParams({ filters: nested(300) })}`;
    const { status, body } = await app.fetch(url, { headers: bearer(ann) });
    expect([status, body.issues]).toEqual([400, [expect.objectContaining({ path: ["filters"] })]]);
  });

  test("is refused by a socket, which stays open", async () => {
    const socket = await Socket.open(app, ann);
    socket.send({ type: "subscribe", query: `notes.list::${nested(600)}` });
    expect((await socket.wait({ type: "error" })).error).toContain("nested deeper");
    const fitting = nested(1_000); // a frame has 16 KiB
    for (const frame of [
      fitting,
      `{"type":"send","query":${fitting}}`,
      `{"type":"send","query":"x","data":${fitting}}`,
    ]) {
      socket.send(frame);
      expect((await socket.wait({ type: "error" })).error).toContain("nested deeper");
    }
    await socket.subscribe("notes.list");
    socket.close();
  });

  test("is refused by Studio", async () => {
    const { status, body } = await panels.raw("/api/redeem", "POST", `{"token":${short}}`, {
      origin: panels.origin,
      "content-type": "application/json",
    });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining("nested deeper")]);
  });

  test("is refused by the tools of coding agents over HTTP", async () => {
    const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query","arguments":{"as":null,"text":${short}}}}`;
    const { status, text } = await panels.raw("/mcp", "POST", message, {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${panels.agentSecret}`,
    });
    expect([status, text]).toEqual([400, expect.stringContaining("nested deeper")]);
  });

  test("is refused by the tools of coding agents over standard input", async () => {
    const failures: unknown[] = [];
    const failed = (error: unknown) => void failures.push(error);
    const tools = () => Promise.reject(new Error("not asked"));
    const server = createMcpServer({ version: "1", cwd: "/", platform: "/", tools, failed });
    const agent = new Client({ name: "a test", version: "1" });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(theirs), agent.connect(ours)]);
    const answer = await agent.callTool({ name: "dry_run", arguments: { as: null, args: JSON.parse(deep) } });
    expect(answer).toMatchObject({ isError: true });
    expect([JSON.stringify(answer), failures]).toEqual([expect.stringContaining("nested deeper"), []]);
  });

  test("refuses the row of an import, and no other", async () => {
    await startWorker({ concurrency: 1 });
    const text = `slug,data\none,"${deep.replaceAll('"', '""')}"\ntwo,1\n`;
    const bytes = Buffer.from(text).toString("base64");
    const storageId = (await app.mutate(ann, "upload", { bytes, times: 1 })).body.json;
    const begun = await app.mutate(ann, "entries.import", { storageId, format: "csv" });
    expect(begun.status).toBe(200);
    const show = async () => (await app.query(ann, "workflows.get", { id: begun.body.json.id })).body.json;
    await until(async () => ["completed", "failed"].includes((await show()).status));
    expect(await show()).toMatchObject({ status: "completed", result: { written: 1, refused: 1 } });
    await db.sql("truncate entries");
  });
});

test("the limit counts levels, not brackets, and knows where texts end", () => {
  const nested = lists;
  const padded = (text: string) => text + " ".repeat(2 * maxJsonDepth);
  for (const fine of [
    nested(maxJsonDepth),
    `[${Array(1_000).fill("{}").join(",")}]`,
    JSON.stringify([`${"[".repeat(1_000)}"\\`, `\\"${"{".repeat(1_000)}`]),
    JSON.stringify({ ["[".repeat(1_000)]: "\\\\" }),
  ])
    for (const form of [padded(fine), Buffer.from(padded(fine))]) expect(requireShallowJson(form)).toBeUndefined();
  for (const deep of [nested(maxJsonDepth + 1), `{"\\\\":${nested(maxJsonDepth)}}`, `["\\"",${nested(maxJsonDepth)}]`])
    for (const form of [deep, padded(deep), Buffer.from(padded(deep))])
      expect(() => requireShallowJson(form)).toThrow("200");
});
