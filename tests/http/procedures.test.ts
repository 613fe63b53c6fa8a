// If this file fails, arguments arrive changed, or a malformed call harms the service.
import { afterEach, describe, expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, bearer, service } from "../support/service.ts";
import { brokenForms, brokenMaps } from "./broken-forms.ts";
import { plain, rich } from "./wire-values.ts";

/** The arguments of the last handler. */
let arrived: unknown;
let calls = 0;
afterEach(() => {
  arrived = undefined;
  calls = 0;
});
const echo = ({ input }: { input: unknown }) => {
  arrived = input;
  calls++;
  return input;
};
const receive = ({ input }: { input: unknown }) => {
  echo({ input });
};
const procedures = {
  ask: procedure.query.name("wire.ask").allowAnonymous().handler(echo),
  echo: procedure.mutation.name("wire.echo").allowAnonymous().handler(echo),
  receive: procedure.mutation.name("wire.receive").allowAnonymous().handler(receive),
  file: procedure.mutation
    .name("wire.file")
    .allowAnonymous()
    .handler(() => new File(["x"], "x.txt")),
  circle: procedure.query
    .name("wire.circle")
    .allowAnonymous()
    .handler((): unknown => {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      return circle;
    }),
  nothing: procedure.query
    .name("wire.nothing")
    .allowAnonymous()
    .handler(() => {}),
  closed: procedure.query.name("wire.closed").handler(echo),
  closedMutation: procedure.mutation.name("wire.closedMutation").handler(echo),
  hidden: procedure.internal.name("wire.hidden").handler(echo),
};
const db = database();
const svc = service(db, apiWith({ procedures }));
const serving = service(db, apiWith({ procedures }), { production: true } as object);

const send = (path: string, body: BodyInit, type?: string): Promise<Answer> =>
  svc.fetch(path, { method: "POST", body, ...(type && { headers: { "content-type": type } }) });

/** JSON cannot represent it: 3 is its code among the rich types. */
const undefinedEncoded = { json: null, meta: [[3]] };

describe("arguments", () => {
  test.for(plain)("of plain JSON arrive and return as they are: %j", async (args) => {
    for (const { status, body } of [
      await svc.query(null, "wire.ask", args),
      await svc.mutate(null, "wire.echo", args),
    ]) {
      expect({ status, body }).toEqual({ status: 200, body: { json: args } });
      expect(arrived).toEqual(args);
    }
  });

  test("may be absent", async () => {
    const { body } = await svc.query(null, "wire.ask");
    expect({ arrived, body }).toEqual({ arrived: undefined, body: undefinedEncoded });
  });

  test.for(Object.entries(rich))("of type %s survive both ways", async ([, [value, encoded]]) => {
    const { status, body } = await svc.mutate(null, "wire.echo", encoded);
    expect(arrived).toStrictEqual(value);
    expect({ status, body }).toEqual({ status: 200, body: encoded });
  });

  test("named like the prototype's members are data, and change no prototype", async () => {
    const text =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":{"polluted":1}}}';
    for (const args of [
      text,
      `{"json":${text},"meta":[[3,"__proto__","polluted"]]}`,
      `{"json":${text},"meta":[[0,"toString"]]}`,
    ]) {
      const { status } = await send("/api/mutation", `{"name":"wire.echo","args":${args}}`, "application/json");
      expect(status).toBeLessThan(500);
      expect(Object.hasOwn(Object.prototype, "polluted") || "polluted" in {}).toBe(false);
    }
    await send("/api/mutation", `{"__proto__":{"name":"wire.echo","args":1}}`, "application/json");
    const { status, body } = await send(
      "/api/mutation",
      `{"name":"guestbook.create","args":{"__proto__":{"message":"x"}}}`,
      "application/json",
    );
    expect({ status, issues: body.issues }).toMatchObject({
      status: 400,
      issues: [{ path: ["message"], message: "is required" }],
    });
  });

  test("that text columns cannot hold are refused, each with its path", async () => {
    for (const message of ["a\0b", "\ud800"]) {
      const { status, body } = await svc.mutate(null, "guestbook.create", { message });
      expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path: ["message"] }] });
    }
  });
});

test("a result that refers to itself is our fault, and the log says so", async () => {
  const { status, body } = await svc.query(null, "wire.circle");
  expect([status, body.code]).toEqual([500, "INTERNAL"]);
  const line = () => svc.logged.find((text) => text.includes(body.requestId) && text.includes("refers to itself"));
  await expect.poll(line).toBeDefined();
});

test("a result of nothing is undefined, and a file as a result is our fault", async () => {
  expect((await svc.query(null, "wire.nothing")).body).toEqual(undefinedEncoded);
  expect(await svc.mutate(null, "wire.file")).toMatchObject({ status: 500, body: { code: "INTERNAL" } });
});

describe("files", () => {
  const form = (count: number, data: object = {}) => {
    const body = new FormData();
    const files = Array.from(
      { length: count },
      (_, i) => new File([new Uint8Array([i, 0, 255, 13, 10, 45, 45])], `fïle "${i}".bin`, { type: "image/x-test" }),
    );
    body.set(
      "data",
      JSON.stringify({
        json: { name: "wire.receive", args: { files: files.map(() => null), at: "1970-01-01T00:00:00.000Z" } },
        meta: [[1, "args", "at"]],
        maps: files.map((_, i) => ["args", "files", i]),
        ...data,
      }),
    );
    for (const [i, file] of files.entries()) body.set(String(i), file);
    return body;
  };

  test.for([0, 1, 16])("%i arrive where they belong, with name, type and bytes", async (count) => {
    expect((await send("/api/mutation", form(count))).status).toBe(200);
    const { files, at } = arrived as { files: File[]; at: Date };
    expect(at).toEqual(new Date(0));
    const found = await Promise.all(
      files.map(async (f) => [f.name, f.type, [...new Uint8Array(await f.arrayBuffer())]]),
    );
    expect(found).toEqual(files.map((_, i) => [`fïle "${i}".bin`, "image/x-test", [i, 0, 255, 13, 10, 45, 45]]));
    expect(files).toHaveLength(count);
  });

  test("17 are too many", async () => {
    expect(await send("/api/mutation", form(17))).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
    expect(calls).toBe(0);
  });

  test("as whole and nested arguments", async () => {
    await send("/api/mutation", form(1, { json: { name: "wire.receive", args: null }, meta: [], maps: [["args"]] }));
    expect(arrived).toBeInstanceOf(File);
    const nested = {
      json: { name: "wire.receive", args: [{ deep: [null] }] },
      meta: [],
      maps: [["args", 0, "deep", 0]],
    };
    await send("/api/mutation", form(1, nested));
    expect((arrived as [{ deep: File[] }])[0].deep[0]?.name).toBe('fïle "0".bin');
  });

  test.for(brokenMaps)("%s: 400", async ([, data]) => {
    const { status, body } = await send("/api/mutation", form(1, data));
    expect({ status, id: typeof body.requestId }).toEqual({ status: 400, id: "string" });
    expect(calls).toBe(0);
  });

  test.for(brokenForms)("%s: 400", async ([, body, type]) => {
    expect(await send("/api/mutation", body, type)).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });
});

describe("content types", () => {
  const text = JSON.stringify({ name: "wire.ask", args: 1 });
  test.for([
    "text/plain",
    "application/xml",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "multipart/mixed; boundary=x",
  ])("%s: 415", async (type) => {
    for (const path of ["/api/query", "/api/mutation"]) {
      expect(await send(path, text, type)).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
    }
  });
  test("files are for mutations: 415 for a query", async () => {
    expect((await send("/api/query", new FormData())).status).toBe(415);
  });
  test.for(["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.api+json", undefined])(
    "%s is JSON",
    async (type) => {
      expect((await send("/api/query", new TextEncoder().encode(text), type)).body).toEqual({ json: 1 });
    },
  );
});

describe("what cannot be called", () => {
  test("unknown, internal and wrong-kind procedures answer alike, signed in or not", async () => {
    const user = await serving.signUp("ann");
    const plain = async (path: string, name: string, caller: typeof user | null) => {
      const { status, body, headers } = await serving.post(path, { name, args: { a: 1 } }, caller);
      const kept = [...headers].filter(([header]) => !["x-request-id", "date"].includes(header));
      return {
        status,
        headers: kept.map(([name, value]) => [name, name === "content-length" ? "" : value]),
        body: { ...body, requestId: "" },
      };
    };
    for (const [path, wrongKind] of [
      ["/api/query", "wire.echo"],
      ["/api/mutation", "wire.ask"],
    ] as const) {
      const unknown = await plain(path, "wire.unknown", null);
      expect(unknown).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
      for (const name of ["wire.hidden", wrongKind, "", "__proto__", "toString", "WIRE.ECHO", "wire.echo\0"]) {
        for (const caller of [null, user]) expect(await plain(path, name, caller)).toEqual(unknown);
      }
    }
    expect(calls).toBe(0);
  });

  test.for([
    ["/api/query", "wire.aks", 'Did you mean "wire.ask"?'],
    ["/api/query", "wire.echo", "wire.echo is a mutation: send it to /api/mutation."],
    ["/api/query", "wire.hiden", 'There are: "wire.ask"'],
  ] as const)(
    "while developing, %s says of %s what was meant, and suggests nothing internal",
    async ([path, name, hint]) => {
      const { status, body } = await svc.post(path, { name }, null);
      expect([status, body.hint]).toEqual([404, expect.stringContaining(hint)]);
      expect(body.hint).not.toContain("wire.hidden");
    },
  );

  test("while developing, an internal procedure is named as such", async () => {
    for (const path of ["/api/query", "/api/mutation"]) {
      const { status, body } = await svc.post(path, { name: "wire.hidden" }, null);
      expect([status, body.code, body.hint]).toEqual([
        404,
        "NOT_FOUND",
        "wire.hidden is internal: only the scheduler, crons and workflows run it. For clients, define a query or mutation.",
      ]);
    }
    expect(calls).toBe(0);
  });

  test.for<[headers: Record<string, string>, hint?: RegExp]>([
    [{}],
    [{ authorization: "Bearer x" }, /has expired/],
    [{ authorization: "Basic YTpi" }, /Authorization: Bearer <token>/],
    [{ authorization: "Bearer " }, /Authorization: Bearer <token>/],
    [{ cookie: "authlib.session_token=x" }],
  ])("a protected procedure with %j: 401", async ([headers, hint]) => {
    for (const [path, name] of [
      ["/api/query", "wire.closed"],
      ["/api/mutation", "wire.closedMutation"],
      ["/api/query", "notes.list"],
    ] as const) {
      const init = {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify({ name }),
      };
      const answer = await svc.fetch(path, init);
      expect(answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED", error: "Sign in to do this." } });
      expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      expect(answer.body.hint).toEqual(hint && expect.stringMatching(hint));
    }
    expect(calls).toBe(0);
  });

  test("a protected procedure answers its user", async () => {
    const user = await svc.signUp("bob");
    expect((await svc.query(user, "wire.closed", 1)).body).toEqual({ json: 1 });
    const init = { method: "POST", headers: bearer(user), body: new TextEncoder().encode('{"name":"wire.closed"}') };
    expect((await svc.fetch("/api/query", init)).status).toBe(200);
  });

  test.for(["GET", "PUT", "DELETE", "PATCH"])("%s is not how procedures are called: 405", async (method) => {
    expect(await svc.fetch("/api/query", { method })).toMatchObject({
      status: 405,
      body: { code: "METHOD_NOT_ALLOWED", hint: expect.stringContaining("POST") },
    });
  });
});
