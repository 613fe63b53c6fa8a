/** The SDK with a real service: signing in, calls, and their results. */
import { inspect } from "node:util";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { createAuthClient, createSvcClient, mutation, query, SvcError } from "../../client/sdk/src/index.ts";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { v } from "../../src/kit/v.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const procedure = createSvcProcedureBuilders();
const echo = procedure.query
  .name("test.echo")
  .allowAnonymous()
  .input(v.any())
  .handler(({ input }) => input);
const whoAmI = procedure.query.name("test.whoAmI").handler(({ context }) => context.auth.requireAuth().user.email);
const upload = procedure.mutation
  .name("test.upload")
  .input(v.object({ note: v.string(), file: v.file() }))
  .handler(async ({ input }) => `${input.note}: ${(input.file as File).name} ${await input.file.text()}`);

const nothing = procedure.mutation
  .name("test.nothing")
  .allowAnonymous()
  .handler(() => {});

const add = procedure.mutation
  .name("test.add")
  .allowAnonymous()
  .input(z.object({ at: z.date(), by: z.number() }))
  .handler(({ input }) => new Date(input.at.getTime() + input.by));

const running = service(database(), apiWith({ procedures: { add, echo, whoAmI, upload, nothing } }));

const api = {
  echo: query<typeof echo>("test.echo"),
  whoAmI: query<typeof whoAmI>("test.whoAmI"),
  upload: mutation<typeof upload>("test.upload"),
  nothing: mutation<typeof nothing>("test.nothing"),
  add: mutation<typeof add>("test.add"),
  missing: query<typeof whoAmI>("test.missing"),
};

function connect() {
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  return { auth, client: createSvcClient({ api, baseUrl: running.url, auth }) };
}
const freshEmail = () => `${crypto.randomUUID()}@example.com`;

test("what the service notices while developing is printed once in the console", async () => {
  const printed = vi.spyOn(console, "warn").mockImplementation(() => {});
  try {
    const notice = `"tasks.create" ignores "titel" ${crypto.randomUUID()}`;
    const fetch = async () => Response.json({ json: null, notice });
    const client = createSvcClient({ api, baseUrl: "http://localhost", fetch });
    for (let times = 0; times < 2; times++) {
      await client.query(api.whoAmI);
      await client.mutate(api.nothing);
    }
    expect(printed.mock.calls).toEqual([[`svc: ${notice}`]]);
  } finally {
    printed.mockRestore();
  }
});

describe("a client in token mode", () => {
  test("signs up, calls, and signs out", async () => {
    const { auth, client } = connect();
    const email = freshEmail();
    const user = await auth.signUp(email, "correct horse", "Ann");
    expect(user).toEqual({ id: expect.any(String), email, name: "Ann" });
    expect(auth.getState()).toEqual({ token: expect.any(String), user, isAuthenticated: true });
    expect(await client.query(api.whoAmI)).toBe(email);

    await auth.signOut();
    expect(auth.getState()).toEqual({ token: null, user: null, isAuthenticated: false });
    await expect(client.query(api.whoAmI)).rejects.toMatchObject({ code: "UNAUTHORIZED", status: 401 });
  });

  test("tells the service's refusals by code", async () => {
    const { auth, client } = connect();
    const email = freshEmail();
    await auth.signUp(email, "correct horse", "Ann");
    const refusals = [
      [() => auth.signUp(email, "correct horse", "Ann"), "EMAIL_TAKEN", 409],
      [() => auth.signIn(email, "wrong horse"), "INVALID_CREDENTIALS", 401],
      [() => client.query(api.missing), "NOT_FOUND", 404],
    ] as const;
    for (const [call, code, status] of refusals) {
      const error = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SvcError);
      expect(error).toMatchObject({ code, status, requestId: expect.any(String) });
    }
  });

  test("gets nothing from a handler that returns nothing, and that is no error", async () => {
    expect(await connect().client.mutate(api.nothing)).toBeUndefined();
  });

  test("sends a batch, and gets each result in its own type", async () => {
    const { auth, client } = connect();
    await auth.signUp(freshEmail(), "correct horse", "Ann");
    const at = new Date("2026-01-01T00:00:00Z");
    const [later, none] = await client.batch([
      [api.add, { at, by: 1000 }],
      [api.nothing, undefined],
    ]);
    expect([later, none]).toEqual([new Date("2026-01-01T00:00:01Z"), undefined]);

    const wrong = client.batch([
      [api.nothing, undefined],
      [api.add, { at, by: "1" as never }],
    ]);
    await expect(wrong).rejects.toMatchObject({ code: "VALIDATION_FAILED", status: 400, index: 1 });
    const error: Error = await wrong.catch((reason) => reason);
    expect(error.message).toBe("The input does not match what this operation takes.");
    // A terminal prints the stack, and of the path in issues only [Array].
    expect(inspect({ error })).toMatch(/operation takes\.\n +by: Invalid input/);
    const withFile = client.batch([[api.upload, { note: "x", file: new File(["x"], "x") }]]);
    await expect(withFile).rejects.toThrow("Upload it first, and pass its id.");
  });

  test("tells everybody who listens when the state changes", async () => {
    const { auth } = connect();
    const seen: boolean[] = [];
    const stop = auth.subscribe(() => seen.push(auth.getState().isAuthenticated));
    await auth.signUp(freshEmail(), "correct horse", "Ann");
    await auth.signOut();
    stop();
    await auth.signUp(freshEmail(), "correct horse", "Ann");
    expect(seen).toEqual([true, false]);
  });
});

describe("arguments and results", () => {
  const client = () => createSvcClient({ api, baseUrl: running.url });

  test.each<[string, unknown]>([
    ["plain JSON", { text: "plain", list: [1, null, true] }],
    ["dates and bigints", { at: new Date("2026-01-02T03:04:05.678Z"), big: 12345678901234567890n }],
    ["nothing", undefined],
    ["holes in a list", [undefined, 1]],
    ["a map of sets", new Map([["a", new Set([1, 2])]])],
    ["NaN, a URL, a pattern", [Number.NaN, new URL("https://example.com/a?b#c"), /x\/y/gi]],
    ["what looks like the encoding", { json: 1, meta: [] }],
    ["what looks like a call", { args: { json: new Date(0) } }],
    ["a text", "text"],
    ["zero", 0],
    ["null", null],
  ])("%s: comes back as it went", async (_what, value) => {
    expect(await client().query(api.echo, value)).toEqual(value);
  });

  test("an operation of the other kind is refused before anything is sent", async () => {
    const { upload, echo } = api;
    const args = {} as never;
    await expect(client().query(upload as never, args)).rejects.toThrow(
      `${upload.name} is a mutation: it is for mutate.`,
    );
    await expect(client().mutate(echo as never, args)).rejects.toThrow(`${echo.name} is a query: it is for query.`);
    expect(() => client().watch(upload as never, args, () => {})).toThrow(/is a mutation/);
  });

  test("arguments that hold a circle say so", async () => {
    const circle: { again?: unknown } = {};
    circle.again = circle;
    await expect(client().query(api.echo, circle)).rejects.toThrow(/^The arguments of \S+ refer to themselves/);
  });

  // It arrived as null: a row that was read and written again lost its number.
  test.each([Number.POSITIVE_INFINITY, { list: [Number.NEGATIVE_INFINITY] }, new Set([Number.POSITIVE_INFINITY])])(
    "an infinite number is refused before anything is sent",
    async (value) => {
      await expect(client().query(api.echo, value)).rejects.toThrow(/^The arguments of \S+ contain an infinite number/);
    },
  );

  test("what is no operation, or no baseUrl, says what to write instead", async () => {
    const missing = undefined as never;
    await expect(client().query(missing, missing)).rejects.toThrow(/not an operation, but undefined.*api\.tasks\.list/);
    await expect(client().mutate(missing, missing)).rejects.toThrow(/not an operation, but undefined/);
    expect(() => client().watch(missing, missing, () => {})).toThrow(/not an operation, but undefined/);
    expect(() => client().watch({} as never, missing, () => {})).toThrow(/not an operation, but a group/);
    expect(() => createSvcClient({ api, baseUrl: missing })).toThrow(
      /baseUrl is undefined\. Pass the service's origin/,
    );
    expect(() => createAuthClient(missing)).toThrow(/baseUrl is undefined/);
    await expect(client().mutate("notes.create" as never, missing)).rejects.toThrow(
      /not an operation, but notes\.create\./,
    );
    expect(() => createAuthClient("localhost:4000")).toThrow(/^baseUrl is localhost:4000\. Pass .*"https:/);
    expect(() => createSvcClient({ api, baseUrl: "ws://localhost" })).toThrow(/^baseUrl is ws:/);
  });

  // They came out as "The service cannot be reached", or as a TypeError of the language.
  test("what is no path, or no pair of a batch, says so before anything is sent", async () => {
    const { auth, client } = connect();
    const noPath = /^(api\/hello|\[object Object\]|two-factor\/enable) is not a path such as "\/api\/hello"\.$/;
    await expect(client.fetch("api/hello")).rejects.toThrow(noPath);
    await expect(
      client
        .stream(api.echo as never)
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toThrow(noPath);
    await expect(auth.call("two-factor/enable")).rejects.toThrow(noPath);
    await expect(client.batch([api.add, {}] as never)).rejects.toThrow("This is not an operation, but undefined.");
  });

  test("a watcher that throws ends neither itself nor the others, and its error is reported", async () => {
    const { client } = connect();
    const thrown: unknown[] = [];
    const reporters = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection").on("unhandledRejection", (error) => thrown.push(error));
    onTestFinished(() => {
      process.removeAllListeners("unhandledRejection");
      for (const one of reporters) process.on("unhandledRejection", one);
      client.close();
    });
    const mine = new Error("mine");
    const results: string[] = [];
    client.watch(api.echo, 1, () => {
      results.push("first");
      throw mine;
    });
    client.watch(api.echo, 1, () => results.push("second"));
    await expect.poll(() => results).toContain("second");
    await client["~svc"].refetch(api.echo, 1);
    expect(results.slice(-2)).toEqual(["first", "second"]);
    await expect.poll(() => thrown).toEqual(results.filter((one) => one === "first").map(() => mine));
  });

  test("files are uploaded beside the arguments", async () => {
    const { auth, client } = connect();
    await auth.signUp(freshEmail(), "correct horse", "Ann");
    const file = new File(["hello"], "greeting.txt", { type: "text/plain" });
    expect(await client.mutate(api.upload, { note: "a note", file })).toBe("a note: greeting.txt hello");
  });
});

describe("the custom fetch", () => {
  const original = globalThis.fetch;
  afterEach(() => {
    globalThis.fetch = original;
  });

  test("the global one is looked up when a call is made", async () => {
    const client = createSvcClient({ api, baseUrl: running.url });
    const paths: string[] = [];
    globalThis.fetch = (input, init) => {
      paths.push(new URL(String(input)).pathname);
      return original(input, init);
    };
    await client.query(api.echo, 1);
    expect(paths).toEqual(["/api/query"]);
  });
});
