// If this file fails, a webhook or a feed of an application receives or sends something else than its author intended.
import { request as rawRequest } from "node:http";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import type { SvcRequest } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service } from "../support/service.ts";
import { type bodies, bytes, httpRoutes, noticed, unsendable, verbs } from "./routes-application.ts";

const db = database();
const svc = service(db, apiWith({ httpRoutes }));
beforeEach(() => {
  noticed.arrived = undefined;
});
const messages = async () => (await db.sql("select message from guestbook")).map(({ message }) => message);
const json = { "content-type": "application/json" };

describe.for(verbs)("%s", (verb) => {
  const method = verb.toUpperCase();

  test("gets path parameters, query and headers", async () => {
    const path = "/api/verbs/a%2Fb%20%C3%BC%3F/of/%5F";
    const { status } = await svc.fetch(`${path}?a=1&b=x%20y&a=2&flag&c=1?2=3&%C3%BC=+`, {
      method,
      headers: { "X-Own": "ü".normalize("NFC") },
    });
    expect(status).toBe(200);
    const { request } = noticed.arrived as { request: SvcRequest };
    expect({ ...request.params }).toEqual({ id: "a/b ü?", Name_2: "_" });
    expect(request.query).toEqual({ a: "2", b: "x y", flag: "", c: "1?2=3", ü: " " });
    expect({ method: request.method, path: request.path }).toEqual({ method, path });
    expect(request.headers).toMatchObject({ "x-own": "ü", host: new URL(svc.url).host });
  });

  test("takes its input from the query or the JSON body", async () => {
    const query = verb === "get" || verb === "delete";
    const body = query ? undefined : JSON.stringify({ a: 1, id: "body" });
    await svc.fetch("/api/verbs/1/of/2?a=1", { method, headers: json, body: body ?? null });
    expect(noticed.arrived?.input).toEqual(query ? { a: "1" } : { a: 1, id: "body" });
    await svc.fetch("/api/verbs/1/of/2", { method });
    expect(noticed.arrived?.input).toEqual(query ? {} : undefined);
  });

  test("commits unless the status says that it failed", async () => {
    await db.sql("truncate guestbook");
    const call = (status: string | number) => svc.fetch(`/api/write/${status}`, { method });
    if (verb === "get") {
      expect(await call(200)).toMatchObject({ status: 500, body: { code: "QUERY_WROTE" } });
      return expect(await messages()).toEqual([]);
    }
    for (const status of [400, 404, 500]) expect(await call(status)).toMatchObject({ status, body: "done" });
    expect(await call("throw")).toMatchObject({ status: 409, body: { code: "CONFLICT", error: "No.", hint: "Wait." } });
    expect(await messages()).toEqual([]);
    for (const status of [200, 302, 399]) await svc.fetch(`/api/write/${status}`, { method, redirect: "manual" });
    expect(await messages()).toEqual(["written", "written", "written"]);
  });

  test("asks for credentials unless it allows anonymous callers", async () => {
    const refused = await svc.fetch("/api/closed", { method });
    expect(refused).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    expect(noticed.arrived).toBeUndefined();
    expect((await svc.fetch("/api/closed", { method, headers: bearer(await svc.signUp("ann")) })).status).toBe(200);
  });
});

describe("a path", () => {
  test.for([
    "/api/closed/",
    "/API/closed",
    "/api/Closed",
    "/api/verbs/1/of/",
    "/api/verbs//of/2",
    "/api/verbs/1/of/2/3",
    "/nothing",
  ])("%s matches no route: 404", async (path) => {
    expect(await svc.fetch(path)).toMatchObject({
      status: 404,
      body: { code: "NOT_FOUND", requestId: expect.any(String) },
    });
  });
  test("takes only the verbs that it was declared with", async () => {
    const { status, headers } = await svc.fetch("/api/checked", { method: "POST" });
    expect([status, headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
  test("that cannot be decoded is the caller's mistake", async () => {
    expect(await svc.fetch("/api/verbs/%ff/of/%zz")).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
  });
  test("query values are strings: nothing is coerced", async () => {
    const { status, body } = await svc.fetch("/api/checked?n=1");
    expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path: ["n"] }] });
  });
});

describe("a request body", () => {
  const form = () => {
    const data = new FormData();
    data.set("a", "1");
    data.append("f", new File(["bytes"], "f.txt"));
    return data;
  };
  const post = (reader: string, body: BodyInit | null, headers: Record<string, string> = {}) =>
    svc.fetch(`/api/readers/${reader}`, { method: "POST", body, headers });

  test.for<[string, string, BodyInit, Record<string, string>, unknown, unknown]>([
    ["JSON", "json", '{"a":1}', json, { a: 1 }, { a: 1 }],
    ["JSON", "text", '{"a": 1}', json, { a: 1 }, '{"a": 1}'],
    ["untyped JSON", "json", new TextEncoder().encode("[1]"), {}, [1], [1]],
    ["+json", "json", "[1]", { "content-type": "application/ld+json" }, [1], [1]],
    ["text", "text", "not json ü", { "content-type": "text/plain" }, "none", "not json ü"],
    ["text that is JSON", "json", "[1]", { "content-type": "text/plain" }, "none", [1]],
    ["bytes", "arrayBuffer", bytes, { "content-type": "application/octet-stream" }, "none", [0, 255, 1, 254]],
    [
      "a form",
      "formData",
      form(),
      {},
      "none",
      [
        ["a", "1"],
        ["f", ["f.txt", "bytes"]],
      ],
    ],
    ["a urlencoded form", "formData", new URLSearchParams({ a: "1 2" }), {}, "none", [["a", "1 2"]]],
    ["nothing", "text", "", { "content-type": "text/plain" }, "none", ""],
  ])("of %s is read by %s(), as often as asked", async ([, reader, body, headers, input, value]) => {
    expect((await post(reader, body, headers)).body).toEqual({ input, first: value, again: value });
  });

  test.for<[string, string, BodyInit, Record<string, string>, number, string]>([
    ["broken JSON", "text", "{", json, 400, "INVALID_JSON"],
    ["broken untyped JSON", "text", new TextEncoder().encode("{"), {}, 400, "INVALID_JSON"],
    ["text read as JSON", "json", "x", { "content-type": "text/plain" }, 400, "INVALID_JSON"],
    ["JSON read as a form", "formData", "{}", json, 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["a broken form", "formData", "x", { "content-type": "multipart/form-data; boundary=y" }, 400, "BAD_REQUEST"],
    ["too much JSON", "text", `"${"x".repeat(1024 * 1024)}"`, json, 413, "PAYLOAD_TOO_LARGE"],
  ])("of %s is refused", async ([, reader, body, headers, status, code]) => {
    expect(await post(reader, body, headers)).toMatchObject({ status, body: { code } });
  });
  test("that is not said to be JSON says so, where the input lacks it", async () => {
    const [asForm, asJson] = [{ "content-type": "application/x-www-form-urlencoded" }, json].map((headers) =>
      svc.fetch("/api/checked-body", { method: "POST", body: '{"n":1}', headers }),
    );
    expect((await asForm)?.body).toMatchObject({
      code: "VALIDATION_FAILED",
      hint: expect.stringContaining("content-type"),
    });
    expect((await asJson)?.body).toEqual({ n: 1 });
  });
  test("that is not JSON says so", async () => {
    expect((await post("text", "{", json)).body.error).toBe("Invalid JSON body");
  });
  test.for(["/api/query", "/api/readers/text"])("that is compressed says so: %s", async (path) => {
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const { status, body } = await svc.fetch(path, { method: "POST", body: gzipSync("{}"), headers });
    expect([status, body.code, body.hint]).toEqual([
      415,
      "UNSUPPORTED_MEDIA_TYPE",
      expect.stringMatching(/without content-encoding/),
    ]);
  });
});

describe("an answer", () => {
  test.for<[keyof typeof bodies & string, number, string | null, string]>([
    ["text", 200, "text/plain; charset=utf-8", "plain ü"],
    ["emptyText", 200, "text/plain; charset=utf-8", ""],
    ["html", 200, "text/html", "<p>"],
    ["object", 200, "application/json; charset=utf-8", '{"a":[1,null],"at":"1970-01-01T00:00:00.000Z"}'],
    ["list", 200, "application/json; charset=utf-8", "[]"],
    ["number", 200, "application/json; charset=utf-8", "0"],
    ["false", 200, "application/json; charset=utf-8", "false"],
    ["nothing", 200, null, ""],
    ["created", 201, "application/json; charset=utf-8", '{"id":1}'],
    ["redirect", 302, null, ""],
    ["noContent", 204, null, ""],
    ["noContentButText", 204, null, ""],
    ["teapot", 418, "application/json; charset=utf-8", '{"own":"shape"}'],
  ])("of %s is sent as %i %s", async ([key, status, type, text]) => {
    const response = await fetch(`${svc.url}/api/bodies/${key}`, { method: "POST", redirect: "manual" });
    expect({
      status: response.status,
      type: response.headers.get("content-type"),
      text: await response.text(),
    }).toEqual({ status, type, text });
    expect(response.headers.get("cache-control")).toBe("no-store");
    if (status === 204) expect(response.headers.get("content-length")).toBeNull();
  });

  test("of bytes is those bytes", async () => {
    const response = await fetch(`${svc.url}/api/bodies/bytes`, { method: "POST" });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
  });

  test("carries the handler's headers, which win", async () => {
    const { headers } = await svc.fetch("/api/bodies/created", { method: "POST" });
    expect([headers.get("location"), headers.get("x-custom")]).toEqual(["/x/1", "1"]);
    expect((await svc.fetch("/api/bodies/cached", { method: "POST" })).headers.get("cache-control")).toBe(
      "public, max-age=60",
    );
  });

  test.for(unsendable)(
    "that cannot be sent (%s) is a 500 and undoes the call, and the log says why",
    async ([key, why]) => {
      svc.logged.length = 0;
      expect(await svc.fetch(`/api/bodies/${key}`, { method: "POST" })).toMatchObject({
        status: 500,
        body: { code: "INTERNAL" },
      });
      expect(svc.logged.join()).toContain(why);
      expect(await messages()).not.toContain(key);
    },
  );

  test("of a stream arrives in full; a broken one breaks the connection", async () => {
    const { body, headers } = await svc.fetch("/api/stream/finite");
    expect([body, headers.get("content-type")]).toEqual(["part 0;part 1;part 2;", "text/event-stream"]);
    await expect(svc.fetch("/api/stream/broken")).rejects.toThrow();
    await expect(svc.fetch("/api/pieces")).rejects.toThrow();
    // The client cannot be told why it was cut, but the log is.
    for (const [path, why] of [
      ["/api/stream/:kind", '"broken"'],
      ["/api/pieces", "after its call had ended"],
    ] as const) {
      const line = () => svc.logged.find((text) => text.includes(`"${path}"`) && text.includes('"failed"'));
      await expect.poll(line).toContain(why);
    }
    expect((await svc.fetch("/api/stream/finite")).status).toBe(200);
  });

  test.for(["stream", "pieces"])("of a %s that is not as long as its content-length is broken off", async (kind) => {
    const { body, headers } = await svc.fetch(`/api/sized/${kind}/8`);
    expect([body, headers.get("content-length")]).toEqual(["fourmore", "8"]);
    for (const [length, why] of [
      [7, "longer than its"],
      [9, "has 8 bytes"],
    ] as const) {
      const before = svc.logged.length;
      await expect(svc.fetch(`/api/sized/${kind}/${length}`)).rejects.toThrow();
      const line = () => svc.logged.slice(before).find((text) => text.includes('"failed"'));
      await expect.poll(line).toContain(why);
    }
  });

  test("carries two cookies", async () => {
    const { headers, body } = await svc.fetch("/api/bodies/cookies", { method: "POST" });
    expect([headers.getSetCookie(), body]).toEqual([["a=1", "b=2; Path=/"], "plain"]);
  });

  test("of a stream is cancelled when the client goes away, and when it only asked for the head", async () => {
    noticed.cancelled = false;
    const controller = new AbortController();
    const response = await fetch(`${svc.url}/api/stream/endless`, { signal: controller.signal });
    await response.body?.getReader().read();
    controller.abort();
    await expect.poll(() => noticed.cancelled).toBe(true);
    noticed.cancelled = false;
    expect(await svc.fetch("/api/stream/endless", { method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    await expect.poll(() => noticed.cancelled).toBe(true);
  });

  test("to HEAD is GET's without a body", async () => {
    const response = await fetch(`${svc.url}/api/reads`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "application/json; charset=utf-8",
      "",
    ]);
  });
});

test("a header sent twice arrives joined", async () => {
  await new Promise((resolve, reject) => {
    rawRequest(`${svc.url}/api/verbs/1/of/2`, { headers: { "x-twice": ["a", "b"] } }, (response) =>
      response.resume().on("end", resolve),
    )
      .on("error", reject)
      .end();
  });
  expect(noticed.arrived?.request.headers["x-twice"]).toBe("a, b");
});

test.for([
  ["/api/places/near", "/api/places/near"],
  ["/api/places/far", "/api/places/:a"],
  ["/api/places/near/1", "/api/places/near/:b"],
  ["/api/places/near/new", "/api/places/near/:b"],
  ["/api/places/far/new", "/api/places/:a/new"],
  ["/api/places/far/1", "/api/places/:a/:b"],
] as const)("a fixed segment wins over a parameter: %s", async ([path, route]) => {
  expect(await svc.fetch(path)).toMatchObject({ status: 200, body: route });
});
