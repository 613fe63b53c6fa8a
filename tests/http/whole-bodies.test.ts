// If this file fails, published clients, which encode a call as a whole, are refused, or their handlers get other values.
import { afterEach, describe, expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { calls, form, grants, refused } from "./whole-bodies.ts";

/** What the last handler was called with. */
let arrived: unknown = "nothing";
afterEach(() => {
  arrived = "nothing";
});
const echo = ({ input }: { input: unknown }) => {
  arrived = input;
  return input;
};
const procedures = {
  ask: procedure.query.name("wire.ask").allowAnonymous().handler(echo),
  echo: procedure.mutation.name("wire.echo").allowAnonymous().handler(echo),
  size: procedure.mutation
    .name("wire.size")
    .allowAnonymous()
    .handler(async ({ input }) => {
      const { file, at } = input as { file: File; at: Date };
      return { name: file.name, text: await file.text(), at };
    }),
};
const svc = service(database(), apiWith({ procedures }));

const send = async (path: string, body: string, user: User | null = null, type = "application/json") => {
  const headers = { "content-type": type, ...(bearer(user) as Record<string, string>) };
  const response = await fetch(`${svc.url}${path}`, { method: "POST", headers, body });
  return { status: response.status, text: await response.text() };
};

describe("a call that is encoded as a whole", () => {
  test.for(calls)("with %s", async ([, body, args, answer]) => {
    expect(await send("/api/mutation", body)).toEqual({ status: 200, text: answer });
    expect(arrived).toStrictEqual(args);
  });

  test.for(refused)("with %s is refused", async ([, body, answer]) => {
    const { status, text } = await send("/api/mutation", body);
    expect({ status, body: JSON.parse(text) }).toMatchObject({ status: 400, body: answer });
    expect(arrived).toBe("nothing");
  });

  test("with a file is a form", async () => {
    expect(await send("/api/mutation", form.body, null, form.type)).toEqual({
      status: 200,
      text: '{"json":{"name":"hello.txt","text":"hello","at":"2026-01-02T03:04:05.678Z"},"meta":[[1,"at"]]}',
    });
  });

  test("by the path of its procedure needs no name", async () => {
    const { status } = await send("/api/mutation/wire.echo", '{"json":{"args":"2026-01-02"},"meta":[[1,"args"]]}');
    expect({ status, arrived }).toEqual({ status: 200, arrived: new Date("2026-01-02") });
  });

  test("can watch a query, and needs a session where one is needed", async () => {
    const { text } = await send("/api/query", '{"json":{"name":"wire.ask","args":1,"watch":true},"meta":[],"maps":[]}');
    expect(JSON.parse(text)).toEqual({ json: 1, snapshot: null });
    const list = '{"json":{"name":"notes.list","args":{"limit":5}},"meta":[],"maps":[]}';
    expect((await send("/api/query", list)).status).toBe(401);
    const ann = await svc.signUp("ann");
    const { status, text: rows } = await send("/api/query", list, ann);
    expect({ status, body: JSON.parse(rows) }).toEqual({ status: 200, body: { json: { data: [], total: 0 } } });
  });

  test("without a session may be larger than 16 KiB, when it begins with its name", async () => {
    const args = "x".repeat(20_000);
    const large = `{"json":{"name":"wire.echo","args":"${args}"},"meta":[],"maps":[]}`;
    expect((await send("/api/mutation", large)).status).toBe(200);
    expect(arrived).toBe(args);
  });
});

test("a grant is answered in the form that it was asked in", async () => {
  const ann = await svc.signUp("ann");
  const ask = async (body: string) => {
    const { status, text } = await send("/api/realtime/query/authorize", body, ann);
    return { status, body: JSON.parse(text) };
  };
  const grant = { token: expect.any(String), subscriptionKey: 'notes.list::{"limit":5}', policy: "authorized" };
  expect(await ask(grants.plain)).toMatchObject({ status: 200, body: grant });
  expect(await ask(grants.whole)).toMatchObject({ status: 200, body: { json: grant } });
  expect(await ask(grants.broken)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
});
