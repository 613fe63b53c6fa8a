// If this file fails, a few connections that send large bodies and wait take all memory or disk, even without signing
// in.
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import type * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

// An interval ends slow bodies. A file that ran before in this process may have left a faked one.
vi.useRealTimers();

const mebibyte = 1024 * 1024;
const input = v.object({ file: v.optional(v.file()), text: v.optional(v.string()) });
let calls = 0;
let opened = Promise.resolve();
const procedures = {
  open: procedure.mutation
    .name("held.open")
    .allowAnonymous()
    .input(input)
    .handler(async () => {
      calls++;
      await opened;
      return "ran";
    }),
  closed: procedure.mutation
    .name("held.closed")
    .input(input)
    .handler(() => "ran"),
};
const httpRoutes = {
  bytes: createSvcHttpRouteBuilders<typeof schema>()
    .post.path("/api/bytes")
    .allowAnonymous()
    .handler(async ({ request }) => {
      const { byteLength } = await request.arrayBuffer();
      calls++;
      await opened;
      return { body: byteLength };
    }),
};
const folder = bytesFolder();
const db = database();
/** A quarter of each, 2 MiB, is for one address. */
const limits = { multipartBytes: 2 * mebibyte, bodyMemoryBytes: 8 * mebibyte, formDiskBytes: 8 * mebibyte };
const settings = { trustProxy: 1, storage: { driver: "disk", dir: folder } };
const svc = service(db, apiWith({ procedures, httpRoutes }), { ...settings, limits } as never);
const strict = service(db, apiWith({ procedures, httpRoutes }), {
  ...settings,
  limits: { bodyBytesPerSecond: 1024, bodyWindowMs: 300 },
} as never);

const open = new Set<ClientRequest>();
afterEach(async () => {
  for (const one of open) one.destroy();
  await Promise.all([...open].map((one) => one.closed || new Promise((resolve) => one.once("close", resolve))));
  open.clear();
  calls = 0;
});

interface Sent {
  /** Status of the answer; 0 while there is none: the body was accepted. */
  status: number;
  /** Resolves with the answer, though the body has not ended. */
  answer: Promise<{ status: number; body: { code?: string; hint?: string }; headers: IncomingMessage["headers"] }>;
  /** More of the body, or all of it. */
  sending: ClientRequest;
}

/** Begins a request that does not end; written bytes arrive. */
function begin(path: string, type: string, address: string, user: User | null = null, to = svc): Sent {
  const headers = { "content-type": type, "x-forwarded-for": address, "transfer-encoding": "chunked", ...bearer(user) };
  const sending = request(`${to.url}${path}`, { method: "POST", headers });
  open.add(sending);
  sending.on("error", () => {});
  const answer = (once(sending, "response") as Promise<[IncomingMessage]>).then(async ([response]) => ({
    status: response.statusCode ?? 0,
    body: JSON.parse(await text(response)),
    headers: response.headers,
  }));
  const sent: Sent = { status: 0, answer, sending };
  answer.then(
    ({ status }) => {
      sent.status = status;
    },
    () => {}, // it was cut off at the test's end
  );
  sending.flushHeaders();
  return sent;
}

const bytes = "application/octet-stream";
const multipart = "multipart/form-data; boundary=b";
const data = (name: string, args = '{"file":null}', maps = '[["args","file"]]') =>
  `--b\r\ncontent-disposition: form-data; name="data"\r\n\r\n{"json":{"name":"${name}","args":${args}},"maps":${maps}}\r\n`;
const file = (size: number) =>
  `--b\r\ncontent-disposition: form-data; name="0"; filename="f"\r\n\r\n${"x".repeat(size)}`;

function begun(address: string, size: number, path = "/api/bytes"): Sent {
  const sent = begin(path, bytes, address);
  sent.sending.write(Buffer.alloc(size, 32));
  return sent;
}

const refusals = (all: readonly Sent[]) => all.map(({ status }) => status).filter((status) => status !== 0);

describe("bodies in memory that never end", () => {
  test("of one address fill its share, not that of others: 429 with Retry-After", async () => {
    const held = Array.from({ length: 4 }, () => begun("192.0.2.1", 1.5 * mebibyte));
    await expect.poll(() => refusals(held)).toEqual([429, 429, 429]);
    expect(await Promise.race(held.map(({ answer }) => answer))).toMatchObject({
      body: { code: "RATE_LIMITED" },
      headers: { "retry-after": "5" },
    });
    const other = begin("/api/bytes", bytes, "192.0.2.2");
    other.sending.end(Buffer.alloc(1.5 * mebibyte));
    expect((await other.answer).status).toBe(200);
  });

  test("of many addresses leave room for small ones, and for large ones once they are gone: 503 with Retry-After", async () => {
    const all = Array.from({ length: 40 }, (_, n) => begun(`192.0.3.${n}`, 1.5 * mebibyte));
    await expect.poll(() => refusals(all)).toEqual(Array(35).fill(503));
    const refused = await Promise.race(all.map(({ answer }) => answer));
    expect(refused).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" }, headers: { "retry-after": "5" } });
    expect((await svc.mutate(null, "held.open", { text: "x".repeat(8_000) })).status).toBe(200);

    for (const { sending } of all) sending.destroy();
    const again = async () => {
      const sent = begin("/api/bytes", bytes, "192.0.3.99");
      sent.sending.end(Buffer.alloc(2 * mebibyte));
      return (await sent.answer).status;
    };
    await expect.poll(again).toBe(200);
    for (let n = 0; n < 12; n++) expect(await again()).toBe(200); // what has been answered does not count
  });

  test("count until the response has closed, not only while they arrive", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    opened = promise;
    const first = begin("/api/bytes", bytes, "192.0.2.3");
    first.sending.end(Buffer.alloc(1.5 * mebibyte));
    await expect.poll(() => calls).toBe(1); // the body is there, the handler runs
    expect((await begun("192.0.2.3", 1.5 * mebibyte).answer).status).toBe(429);
    resolve();
    expect((await first.answer).status).toBe(200);
    const last = begin("/api/bytes", bytes, "192.0.2.3");
    last.sending.end(Buffer.alloc(1.5 * mebibyte));
    expect((await last.answer).status).toBe(200);
  });
});

test("files of forms that never end fill the share of an address on disk, and are gone with their connections", async () => {
  const forms = join(folder, "forms");
  const onDisk = () =>
    (existsSync(forms) ? readdirSync(forms) : [])
      .flatMap((own) =>
        readdirSync(join(forms, own)).map(
          (name) => statSync(join(forms, own, name), { throwIfNoEntry: false })?.size ?? 0,
        ),
      )
      .reduce((sum, size) => sum + size, 0);
  const held = Array.from({ length: 40 }, () => begin("/api/mutation", multipart, "192.0.2.4"));
  for (const { sending } of held) sending.write(data("held.open") + file(0.4 * mebibyte));
  // A refused request frees its room with its answer; until then others may be refused.
  await expect.poll(() => refusals(held).length).toBeGreaterThanOrEqual(35);
  expect(new Set(refusals(held))).toEqual(new Set([429]));
  expect(onDisk()).toBeGreaterThan(0);
  await expect.poll(onDisk).toBeLessThanOrEqual(2 * mebibyte); // once the files of those that were refused are removed
  const other = begin("/api/mutation", multipart, "192.0.2.5");
  other.sending.end(`${data("held.open")}${file(mebibyte)}\r\n--b--\r\n`);
  expect((await other.answer).status).toBe(200);
  for (const { sending } of held) sending.destroy();
  await expect.poll(onDisk).toBe(0);
});

describe("a body that arrives too slowly", () => {
  test.for<[string, string, string]>([
    ["/api/mutation", "application/json", '{"name":"held.open"'],
    ["/api/mutation", multipart, data("held.open")],
    ["/api/bytes", bytes, "x"],
    ["/api/auth/sign-up", "application/json", "{"],
    ["/api/graphql", "application/json", "{"],
  ])("is answered with 408, and its connection closed: %s %s", async ([path, type, start]) => {
    const { answer, sending } = begin(path, type, "192.0.2.6", null, strict);
    sending.write(start);
    const { status, headers } = await answer;
    expect([status, headers.connection]).toEqual([408, "close"]);
  });
});

describe("without a session", () => {
  const large = "x".repeat(20_000);
  const bodies: [string, string, string][] = [
    ["JSON", "application/json", `{"name":"held.closed","args":{"text":"${large}`],
    ["a form", multipart, data("held.closed") + file(20_000)],
    ["a form with a large part `data`", multipart, data("held.closed", `{"text":"${large}"}`)],
  ];
  test.for(bodies)("a protected call is refused before its body is there: %s", async ([, type, start]) => {
    const { answer, sending } = begin("/api/mutation", type, "192.0.2.7");
    sending.write(start);
    expect(await answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });

  test("a protected call by its own path is refused before anything of its body is there", async () => {
    const { answer } = begin("/api/mutation/held.closed", "application/json", "192.0.2.7");
    expect(await answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });

  test("a call above 16 KiB that does not begin with its name is refused, and says how to send it", async () => {
    for (const [type, start] of [
      ["application/json", `{"args":{"text":"${large}`],
      [multipart, file(20_000)],
      [multipart, `--b\r\ncontent-disposition: form-data; name="data"\r\n\r\n{"maps":["${large}`],
    ] as const) {
      const { answer, sending } = begin("/api/mutation", type, "192.0.2.7");
      sending.write(start);
      expect(await answer).toMatchObject({ status: 413, body: { hint: expect.stringContaining("own path") } });
    }
    expect(calls).toBe(0);
  });

  test("an open call of any size is taken: by its name, in JSON and in forms, and by its path in any order", async () => {
    const json = `{"name":"held.open","args":{"text":"${large}"}}`;
    const form = `${data("held.open", `{"text":"${large}","file":null}`)}${file(20_000)}\r\n--b--\r\n`;
    const fileFirst = `${file(20_000)}\r\n${data("ignored")}--b--\r\n`;
    for (const [path, type, body] of [
      ["/api/mutation", "application/json", json],
      ["/api/mutation", multipart, form],
      ["/api/mutation/held.open", multipart, fileFirst],
    ] as const) {
      const { answer, sending } = begin(path, type, "192.0.2.8");
      sending.end(body);
      expect((await answer).status).toBe(200);
    }
  });
});

test("with a session, a form may have its files before `data`", async () => {
  const user = await svc.signUp("ann");
  const { answer, sending } = begin("/api/mutation", multipart, "192.0.2.9", user);
  sending.end(`${file(200_000)}\r\n${data("held.closed")}--b--\r\n`);
  expect((await answer).status).toBe(200);
});
