// If this file fails, an existing path answers 404 to another method, a client sends a large body for nothing, or reads
// an answer to another host's request.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { drain, listen, openServer } from "../../src/service/http-server.ts";
import { procedure } from "../fixture/backend/index.ts";
import type * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";
import { apiWith, service } from "../support/service.ts";

const route = createSvcHttpRouteBuilders<typeof schema>();
const httpRoutes = {
  read: route.get
    .path("/api/things/:id")
    .allowAnonymous()
    .handler(() => ({ body: "x" })),
  write: route.put
    .path("/api/things/:id")
    .allowAnonymous()
    .handler(async ({ request: { text } }) => ({ body: (await text()).length })),
};
const procedures = {
  echo: procedure.mutation
    .name("methods.echo")
    .allowAnonymous()
    .handler(({ input }) => input),
  closed: procedure.mutation.name("methods.closed").handler(() => {}),
};
const webDir = mkdtempSync(join(tmpdir(), "svc-web-"));
mkdirSync(join(webDir, "sub"));
for (const file of ["index.html", "app.js", "sub/index.html", ".hidden"]) writeFileSync(join(webDir, file), "x");
const svc = service(database(), apiWith({ procedures, httpRoutes }), { webDir, graphql: { enabled: true } } as never);

/** Methods, other than OPTIONS, that a path answers. */
const paths: [path: string, allow: string, other: string][] = [
  ["/api/mutation", "POST", "GET"],
  ["/api/query/guestbook.list?x=1", "POST", "PUT"],
  ["/api/things/1", "GET, PUT, HEAD", "DELETE"],
  ["/api/storage/0b0f3c5e-8f86-4b4e-9d9b-0a6c4a1a0a11", "GET, HEAD", "POST"],
  ["/api/auth/sign-up", "POST", "GET"],
  ["/healthz", "GET, HEAD", "POST"],
  ["/openapi.json", "GET, HEAD", "DELETE"],
  ["/", "GET, HEAD", "POST"],
  ["/app.js", "GET, HEAD", "PUT"],
  ["/sub/", "GET, HEAD", "DELETE"],
];

describe("a path", () => {
  test.for(paths)("%s answers %s: any other method is 405 with Allow, and OPTIONS says the same", async (given) => {
    const [path, allow, other] = given;
    const refused = await svc.fetch(path, { method: other });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, `${allow}, OPTIONS`]);
    expect(refused.body).toMatchObject({ code: "METHOD_NOT_ALLOWED", hint: expect.any(String) });
    const options = await svc.fetch(path, { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow"), options.body]).toEqual([204, `${allow}, OPTIONS`, ""]);
  });

  test.for(["/api/mutation/none.such", "/api/nothing", "/nothing.js", "/sub", "/.hidden", "/%ff", "/../x"])(
    "%s, which nothing answers, is 404 by every method",
    async (path) => {
      for (const method of ["POST", "OPTIONS"]) {
        const { status, headers } = await rawRequest(svc.url, { method, path });
        expect([400, 404]).toContain(status);
        expect(headers.get("allow")).toBeUndefined();
      }
    },
  );

  test("GraphQL and uploads say theirs too; * is about the service", async () => {
    const graphql = await svc.fetch("/api/graphql", { method: "DELETE" });
    expect([graphql.status, graphql.headers.get("allow")]).toEqual([405, expect.stringContaining("POST")]);
    const uploads = await svc.fetch("/api/storage/uploads", { method: "GET" });
    expect([uploads.status, uploads.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    const { status, headers } = await rawRequest(svc.url, { method: "OPTIONS", path: "*" });
    expect([status, headers.get("allow")?.[0]]).toEqual([204, expect.stringContaining("PATCH")]);
  });
});

test.for<[string, string, string]>([
  ["POST", "/api/mutation", "application/json"],
  ["PUT", "/api/things/1", "text/plain"],
  ["POST", "/api/storage/uploads", "application/offset+octet-stream"],
  ["POST", "/api/auth/sign-up", "application/json"],
])("%s %s: a body in a content coding is 415", async ([method, path, type]) => {
  const send = (encoding: string) =>
    svc.fetch(path, {
      method,
      body: gzipSync('{"name":"methods.echo"}'),
      headers: { "content-type": type, "content-encoding": encoding },
    });
  for (const encoding of ["gzip", "br", "identity, gzip", "x"]) {
    expect(await send(encoding)).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  }
  expect((await send("identity")).status).not.toBe(415);
});

test.for([
  ["chunked", 200],
  ["Chunked", 200],
  ["gzip, chunked", 415],
  ["deflate, chunked", 415],
] as const)("a body in the transfer coding %s is answered with %i", async ([coding, status]) => {
  const headers = { "content-type": "application/json", "transfer-encoding": coding };
  const sending = request(`${svc.url}/api/mutation`, { method: "POST", headers });
  sending.end('{"name":"methods.echo","args":1}');
  const [response] = await once(sending, "response");
  expect(response.resume().statusCode).toBe(status);
});

describe("a client that waits for 100 Continue", () => {
  const send = (path: string, length: number, headers: object = {}) => {
    const sending = request(`${svc.url}${path}`, {
      method: "POST",
      headers: { expect: "100-continue", "content-type": "application/json", "content-length": length, ...headers },
    });
    const asked = once(sending, "continue").then(() => "continue");
    const answered = once(sending, "response").then(([response]) => response.resume().statusCode as number);
    sending.flushHeaders();
    return { sending, first: Promise.race([asked, answered]), answered };
  };

  test.for<[string, number, number, object]>([
    ["/api/mutation", 1_048_577, 413, {}],
    ["/api/mutation", 20, 415, { "content-encoding": "gzip" }],
    ["/api/mutation/methods.closed", 20, 401, {}],
    ["/nothing", 20, 404, {}],
  ])("%s: is refused before it sends %i bytes, with %i", async ([path, length, status, headers]) => {
    expect(await send(path, length, headers).first).toBe(status);
  });

  test("is asked for the body when it is read, and answered", async () => {
    const body = '{"name":"methods.echo","args":1}';
    const { sending, first, answered } = send("/api/mutation", body.length);
    expect(await first).toBe("continue");
    sending.end(body);
    expect(await answered).toBe(200);
  });
});

test("two Host headers are refused, in HTTP and for sockets", async () => {
  for (const [path, headers] of [
    ["/healthz", []],
    ["/api/mutation", []],
    [
      "/ws",
      [
        ["Upgrade", "websocket"],
        ["Connection", "Upgrade"],
        ["Sec-WebSocket-Version", "13"],
        ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
      ],
    ],
  ] as [string, [string, string][]][]) {
    const second: [string, string] = ["HOST", "other.test"];
    expect((await rawRequest(svc.url, { method: "GET", path, headers: [second, ...headers] })).status).toBe(400);
  }
});

test("while a process starts, it says so in the form of every error", async () => {
  const http = openServer();
  const url = await listen(http, 0, "127.0.0.1");
  try {
    const answer = await fetch(url.replace("localhost", "127.0.0.1"), { headers: { connection: "close" } });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await answer.json()).toEqual({
      error: "The service is starting.",
      code: "UNAVAILABLE",
      requestId: answer.headers.get("x-request-id"),
    });
    // With a body that is never read, and a client that waits for "100 Continue".
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write("POST /x HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n");
    expect(String((await once(socket, "data"))[0])).toMatch(/^HTTP\/1.1 503/);
    socket.destroy();
  } finally {
    await drain(http, 0, 1_000);
  }
});
