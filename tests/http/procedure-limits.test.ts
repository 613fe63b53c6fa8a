// If this file fails, a small or malformed call costs the service more than a refusal.

import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { SvcError } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { anyCharacter, fc } from "../support/properties.ts";
import { type Answer, apiWith, service } from "../support/service.ts";

let calls = 0;
afterEach(() => {
  calls = 0;
});
const procedures = {
  echo: procedure.mutation
    .name("wire.echo")
    .allowAnonymous()
    .handler(({ input }) => {
      calls++;
      return input;
    }),
  receive: procedure.mutation
    .name("wire.receive")
    .allowAnonymous()
    .handler(() => {}),
};
const line = z.object({ title: z.string(), price: z.number(), unit: z.string() });
const order = procedure.mutation
  .name("wire.order")
  .allowAnonymous()
  .input(z.array(line))
  .handler(() => {});
const own = procedure.mutation
  .name("wire.own")
  .allowAnonymous()
  .input(z.array(z.number()))
  .handler(({ input }) => {
    const issues = input.map((_, at) => ({ path: [at], message: "is sold out" }));
    throw new SvcError("VALIDATION_FAILED", undefined, { issues });
  });
const db = database();
const svc = service(db, apiWith({ procedures: { ...procedures, order, own } }));

const send = (path: string, body: BodyInit, type?: string): Promise<Answer> =>
  svc.fetch(path, { method: "POST", body, ...(type && { headers: { "content-type": type } }) });
const sendJson = (body: unknown) => send("/api/mutation", JSON.stringify(body), "application/json");

describe("limits", () => {
  const mebibyte = 1024 * 1024;
  const sized = (bytes: number) => {
    const frame = JSON.stringify({ name: "wire.receive", args: "" });
    return frame.replace('""', `"${"x".repeat(bytes - frame.length)}"`);
  };
  test("a body of 1 MiB is taken, one byte more is 413", async () => {
    expect((await send("/api/mutation", sized(mebibyte), "application/json")).status).toBe(200);
    const refused = await send("/api/mutation", sized(mebibyte + 1), "application/json");
    expect(refused).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE", hint: expect.stringContaining("1048576") },
    });
  });

  test("an answer names a hundred issues: a small body could ask for a hundred times its size", async () => {
    const given = { order: `[${"{},".repeat(30_000)}{}]`, own: `[${"0,".repeat(30_000)}0]` };
    for (const [name, args] of Object.entries(given)) {
      const { status, body } = await send(`/api/mutation/wire.${name}`, `{"args":${args}}`, "application/json");
      expect([status, body.code, body.issues.length]).toEqual([400, "VALIDATION_FAILED", 100]);
      expect(body.issues[0].path[0]).toBe(0);
    }
  });

  test("a body of unknown length is cut at the same place", async () => {
    const stream = (bytes: number) => new Blob([sized(bytes)]).stream();
    const init = (bytes: number) =>
      ({
        method: "POST",
        body: stream(bytes),
        duplex: "half",
        headers: { "content-type": "application/json" },
      }) as RequestInit;
    expect((await svc.fetch("/api/mutation", init(mebibyte))).status).toBe(200);
    expect((await svc.fetch("/api/mutation", init(mebibyte + 1))).status).toBe(413);
  });

  const nested = (depth: number) => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
  const asText = (args: string) => send("/api/mutation", `{"name":"wire.echo","args":${args}}`, "application/json");
  test.for<[string, (depth: number) => Promise<Answer>]>([
    ["plain", (depth) => asText(nested(depth))],
    ["encoded", (depth) => asText(`{"json":${nested(depth)},"meta":[]}`)],
    [
      "multipart",
      (depth) => {
        const body = new FormData();
        body.set("data", `{"json":{"name":"wire.echo","args":${nested(depth)}}}`);
        return send("/api/mutation", body);
      },
    ],
  ])("%s arguments nest 64 deep, not 65", async ([, nest]) => {
    expect((await nest(64)).status).toBe(200);
    for (const depth of [65, 5_000, 200_000]) {
      expect(await nest(depth)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    }
    expect(calls).toBe(1);
  });

  test("2048 rich values are taken, 2049 are not", async () => {
    const many = (count: number) => ({
      json: Array(count).fill(null),
      meta: Array.from({ length: count }, (_, i) => [3, i]),
    });
    expect((await svc.mutate(null, "wire.receive", many(2048))).status).toBe(200);
    expect(await svc.mutate(null, "wire.receive", many(2049))).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST" },
    });
  });
});

describe("malformed calls", () => {
  test.for<[string, string, string]>([
    ["nothing", "", "The body is empty."],
    ["no JSON", "{", "It is wrong at line 1, column 2."],
    ["half of a word", "nul", "It ends too early: a bracket or a quote is missing."],
    ["no value", '{"password":"hunter2","name":}', "Write it by JSON.stringify()."],
    ["a trailing comma", '{"name":"wire.echo",}', "It is wrong at line 1, column 21."],
    ["bytes that are no UTF-8", "\xff", "It is not UTF-8."],
  ])("%s: 400 INVALID_JSON, and where", async ([name, text, hint]) => {
    const body = name.startsWith("bytes") ? new Uint8Array([0x22, 0xff, 0x22]) : text;
    const { status, body: answer } = await send("/api/mutation", body, "application/json");
    expect({ status, ...answer }).toMatchObject({
      status: 400,
      code: "INVALID_JSON",
      error: "Invalid JSON body",
      hint,
    });
  });

  test.for([null, 1, "wire.echo", [], {}, { args: 1 }, { name: 1 }, { name: null }, { name: ["wire.echo"] }])(
    "%j: 400 VALIDATION_FAILED",
    async (body) => {
      expect(await sendJson(body)).toMatchObject({
        status: 400,
        body: { code: "VALIDATION_FAILED", issues: [{ path: ["name"] }] },
      });
    },
  );

  const encodings: unknown[] = [
    [null, [[8]]],
    [null, [[99, "x"]]],
    [null, [[-1]]],
    [null, [[1.5]]],
    [null, [["1"]]],
    [null, [[null]]],
    [null, [[]]],
    [null, [1]],
    [null, [null]],
    [null, [[1, {}]]],
    [1, [[0]]],
    ["12x", [[0]]],
    ["9".repeat(100_000), [[0]]],
    [1, [[1]]],
    [0, [[2]]],
    [0, [[3]]],
    ["no url", [[4]]],
    [1, [[4]]],
    ["/a/xyz", [[5]]],
    ["a", [[5]]],
    ["text", [[6]]],
    [{}, [[6]]],
    [[1], [[7]]],
    [null, [[7]]],
    [{}, [[1, "missing"]]],
    ["text", [[1, "length"]]],
    [null, [[1, "a", "b"]]],
    [{}, [[1, "__proto__"]]],
    [{}, [[1, "constructor", "name"]]],
  ];
  test.for(encodings.map((pair) => pair as [unknown, unknown[]]))(
    "the encoding %j: 400 BAD_REQUEST",
    async ([json, meta]) => {
      const { status, body } = await svc.mutate(null, "wire.echo", { json, meta });
      expect({ status, code: body.code, calls }).toEqual({ status: 400, code: "BAD_REQUEST", calls: 0 });
    },
  );

  test("of any shape are never a 5xx", async () => {
    const anything = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.json(),
      fc
        .record({ name: fc.constantFrom("wire.receive", "guestbook.update", "guestbook.create"), args: fc.jsonValue() })
        .map((body) => JSON.stringify(body)),
      fc
        .record({
          json: fc.jsonValue(),
          meta: fc.array(fc.array(fc.oneof(fc.integer({ min: -1, max: 9 }), fc.string()))),
        })
        .map((args) => JSON.stringify({ name: "wire.receive", args })),
    );
    await fc.assert(
      fc.asyncProperty(anything, fc.constantFrom("/api/query", "/api/mutation"), async (body, path) => {
        expect([200, 400, 404]).toContain((await send(path, body, "application/json")).status);
      }),
      { numRuns: 300 },
    );
  });
});
