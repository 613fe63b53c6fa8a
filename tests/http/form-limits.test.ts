// If this file fails, anybody can stop the service with a form: with a million parts, which block everything else, or
// with bodies that never end, which fill the memory.
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readBody } from "../../src/http/body.ts";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import type * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const mebibyte = 1024 * 1024;
const limits = { multipartBytes: 2 * mebibyte };
const procedures = {
  receive: procedure.mutation
    .name("form.receive")
    .allowAnonymous()
    .handler(() => {}),
};
const httpRoutes = {
  form: createSvcHttpRouteBuilders<typeof schema>()
    .post.path("/api/form")
    .allowAnonymous()
    .handler(async ({ request }) => ({ body: { fields: [...(await request.formData()).keys()].length } })),
};
const db = database();
const svc = service(db, apiWith({ procedures, httpRoutes }), { limits } as never);

const part = (name: string, value = "", more = "") =>
  `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const data = part("data", '{"json":{"name":"form.receive"}}');
const send = (path: string, body: BodyInit, type = "multipart/form-data; boundary=b") =>
  svc.fetch(path, { method: "POST", body, headers: { "content-type": type } });

describe("parts of a form", () => {
  const tiny = (amount: number) => part("x", "", '; filename="x"').repeat(amount);

  test("of a call are 64 at most", async () => {
    expect((await send("/api/mutation", `${data}${part("x").repeat(63)}--b--\r\n`)).status).toBe(200);
    for (const amount of [64, 20_000]) {
      const { status, body } = await send("/api/mutation", `${data}${tiny(amount)}--b--\r\n`);
      expect({ status, error: body.error }).toEqual({ status: 413, error: "A form has at most 64 parts." });
    }
  });

  test("of a route are 1,000 at most", async () => {
    expect((await send("/api/form", `${tiny(1000)}--b--\r\n`)).body).toEqual({ fields: 1000 });
    expect((await send("/api/form", `${tiny(1001)}--b--\r\n`)).status).toBe(413);
  });

  test("are counted by the boundary that the parser uses", async () => {
    for (const type of [
      'multipart/form-data; a=";boundary=c"; boundary=b',
      'multipart/form-data; boundary="b"; boundary=c',
      "multipart/form-data; BOUNDARY=b",
    ]) {
      const { status } = await send("/api/mutation", `${data}${tiny(20_000)}--b--\r\n`, type);
      expect([400, 413]).toContain(status);
    }
    expect((await send("/api/mutation", `${data}--b--\r\n`, 'multipart/form-data; boundary="b"')).status).toBe(200);
  });

  test("have no endless headers", async () => {
    const endless = `--b\r\n${"a: b\r\n".repeat(100_000)}content-disposition: form-data; name="x"\r\n\r\n\r\n--b--\r\n`;
    expect((await send("/api/mutation", `${data}${endless}`)).status).toBe(413);
  });

  test("the fields of a form are together as large as JSON at most", async () => {
    expect((await send("/api/form", `${part("x", "y".repeat(mebibyte))}--b--\r\n`)).status).toBe(200);
    const two = `${part("x", "y".repeat(mebibyte / 2))}${part("x", "y".repeat(mebibyte / 2 + 1))}--b--\r\n`;
    expect(await send("/api/form", two)).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE", hint: expect.stringContaining("as a file") },
    });
  });

  test("a urlencoded form has as many fields, and is as large as other text at most", async () => {
    const type = "application/x-www-form-urlencoded";
    expect((await send("/api/form", "a&".repeat(1000), type)).body).toEqual({ fields: 1000 });
    expect((await send("/api/form", "a&".repeat(1001), type)).status).toBe(413);
    expect((await send("/api/form", "a&".repeat(mebibyte), type)).status).toBe(413);
  });
});

// Letters were stored as U+FFFD, and nobody heard of it.
test.each([
  ["application/x-www-form-urlencoded", "name=caf%E9"],
  ["application/x-www-form-urlencoded; charset=iso-8859-1", "name=caf\xe9"],
  ["multipart/form-data; boundary=b", `${part("name", "caf\xe9")}--b--\r\n`],
  ["multipart/form-data; boundary=b", `${part("file", "", '; filename="caf\xe9"')}--b--\r\n`],
  ["multipart/form-data; boundary=b", `${part("caf\xe9")}--b--\r\n`],
])("fields in another encoding than UTF-8 are refused: %s %s", async (type, body) => {
  expect(await send("/api/form", Buffer.from(body, "latin1"), type)).toMatchObject({
    status: 400,
    body: { error: "The fields of this form are not UTF-8.", hint: expect.stringContaining("accept-charset") },
  });
  const whole = Buffer.from(body.replace(/%E9|\xe9/, "\u00e9\ufffd"));
  expect((await send("/api/form", whole, type)).status).toBe(200);
});

test("a percent sign that begins no escape is text, and parts no letter", async () => {
  const form = (text: string) => send("/api/form", text, "application/x-www-form-urlencoded");
  expect(await form("a=100%&b=%4&c=%zz%C3%A9")).toMatchObject({ status: 200, body: { fields: 3 } });
  expect((await form("a=%C3%%A9")).status).toBe(400);
});

test("bodies of less than a mebibyte do not fill the memory: small ones are still taken", async () => {
  const piece = Buffer.alloc(64 * 1024); // the same for all of them: what is held here is counted, not allocated
  const limit = 2 * mebibyte;
  const sent = (pieces: Buffer[], isWhole: boolean) => {
    const body = Object.assign(new Readable({ read() {} }), { headers: {} });
    for (const one of pieces) body.push(one);
    if (isWhole) body.push(null);
    return { body, read: readBody(body as unknown as IncomingMessage, limit) };
  };
  const slow = Array.from({ length: 300 }, () => sent(Array(15).fill(piece), false));
  slow.push(...Array.from({ length: 20 }, () => sent([piece], false))); // where one was refused, there is a little room
  const refused = (some: typeof slow) => Promise.race(some.map(({ read }) => read.catch((error) => error)));
  for (const some of [slow.slice(0, 300), slow.slice(300)]) {
    expect(await refused(some)).toMatchObject({ code: "UNAVAILABLE", retryAfter: 5 });
  }
  expect(await sent([piece.subarray(0, 16_384)], true).read).toHaveLength(16_384);

  await Promise.all(slow.map(({ body }) => once(body.destroy(), "close")));
  expect(await sent([piece], true).read).toHaveLength(piece.length);
});
