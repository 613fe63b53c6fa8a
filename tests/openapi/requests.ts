/** Derives requests from an OpenAPI document, for each operation: valid, nearly valid and hostile ones. */
import { request as send } from "node:http";
import fc, { type Arbitrary } from "fast-check";
import type { OpenApiDocument } from "../../src/openapi/document.ts";
import { hostile, valuesOf } from "./values.ts";

/** The caller: anonymous, one of the users, or one with an invented credential. */
export type Who = "nobody" | "jwt" | "session" | "cookie" | "liar" | "forger" | "both";

export interface FuzzRequest {
  /** A path of the document. */
  path: string;
  verb: string;
  /** The sent method; sometimes not the operation's. */
  method: string;
  url: string;
  who: Who;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Whether the document allows the body. */
  fits: boolean;
}

interface Operation {
  parameters?: { name: string; in: string; required?: boolean; schema: unknown }[];
  requestBody?: { content: Record<string, { schema?: Record<string, unknown> }> };
}

const verbs = ["get", "head", "post", "put", "patch", "delete", "options"];
const whos: Who[] = ["nobody", "jwt", "jwt", "jwt", "session", "cookie", "liar", "forger", "both"];
const types = [
  "application/json",
  "application/vnd.x+json",
  "text/plain",
  "application/xml",
  "multipart/form-data",
  "",
];
const badTypes = [
  ...types,
  "multipart/form-data; boundary=x",
  "application/x-www-form-urlencoded",
  "a/b; charset=\xff",
  ";",
];

const usually = <T>(weight: number, one: Arbitrary<T>, other: Arbitrary<T>) =>
  fc.oneof({ weight, arbitrary: one }, { weight: 1, arbitrary: other });

/** Text in a URL: percent-encoded, or wrongly encoded. */
const inUrl: Arbitrary<string> = fc.oneof(
  hostile.map((value) =>
    encodeURIComponent(
      (typeof value === "string" ? value : String(JSON.stringify(value))).slice(0, 400).toWellFormed(),
    ),
  ),
  fc.constantFrom(
    "%00",
    "%2F..%2F",
    "..",
    "%zz",
    "%",
    "%ff%fe",
    "%c0%80",
    ".",
    "a;b",
    "+",
    "%20",
    "a%0d%0ab",
    "~",
    "x".repeat(5000),
  ),
);

/** Printable ASCII, and other characters that a header may have. */
const inHeader = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "-1",
    "1e9",
    "bytes=0-",
    "bytes=5-1,2-",
    "bytes=-0",
    "*",
    'W/"x"',
    "1.0.0",
    "sha1 AAAA",
    "md5 x",
    "999999999999999",
  ),
  fc.string({ maxLength: 30 }).map((text) => text.replace(/[^\x20-\x7e]/g, "?")),
  fc.constant("filename d29ybGQ=,filetype aW1hZ2UvcG5n,visibility cHVibGlj"),
);

const strangeHeaders: Arbitrary<Record<string, string>> = fc.record(
  {
    origin: fc.constantFrom("null", "https://evil.test", "http://localhost", "%00"),
    accept: fc.constantFrom("image/webp", "*/*;q=9", "\xff"),
    "x-request-id": inHeader,
    "x-http-method-override": fc.constantFrom("PATCH", "DELETE", "HEAD", "x"),
    "x-forwarded-for": fc.constantFrom("1.2.3.4", "::1, x", "%"),
    expect: fc.constant("200-ok"),
    range: inHeader,
    "if-none-match": inHeader,
    "access-control-request-method": fc.constant("POST"),
    "content-encoding": fc.constantFrom("gzip", "identity"),
    "user-agent": fc.constant("x".repeat(3000)),
  },
  { requiredKeys: [] },
);

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Bodies that are not JSON, or JSON that is hard for parsers. */
const rawBodies: Arbitrary<Uint8Array> = fc.oneof(
  // biome-ignore format: a list
  fc.constantFrom(
    "", "{", "nul", "[1,]", '{"a":1}{"b":2}', '{"args":1e400}', '{"args":-1e400}', "\ufeff{}", '"\\ud800"', '{"args":"\\u0000"}', '{"a":1,"a":2}',
    `${"[".repeat(60_000)}`, `${"[".repeat(5000)}${"]".repeat(5000)}`, '{"__proto__":{"args":1}}', `{"args":${"9".repeat(400)}}`, "--x\r\n\r\n--x--",
    '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"json":{"args":{"file":null}},"maps":[["args","file"]]}\r\n--x--',
    '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"json":{"args":{"file":null}},"maps":[["args","__proto__"]]}\r\n--x--',
    '--x\r\nContent-Disposition: form-data; name="0"; filename="../../\0"\r\n\r\n\0\r\n--x--',
    '--x\r\nContent-Disposition: form-data; name="data"\r\n\r\n{"json":{"args":{"file":null}},"maps":[["args","file"]]}\r\n--x\r\n' +
      'Content-Disposition: form-data; name="0"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nfour\r\n--x--\r\n',
  ).map(bytesOf),
  fc.uint8Array({ maxLength: 60 }),
  fc.constant(new Uint8Array([0x22, 0xff, 0xfe, 0x22])),
);

/** @param known ids of existing rows, files and uploads */
export function requestsOf(document: OpenApiDocument, known: readonly string[]): Arbitrary<FuzzRequest> {
  const values = valuesOf(document, known);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    verbs.flatMap((verb) => {
      if (!(verb in item)) return [];
      const { parameters = [] } = item as Operation;
      const operation = item[verb] as Operation;
      return [
        { path, verb, operation: { ...operation, parameters: [...parameters, ...(operation.parameters ?? [])] } },
      ];
    }),
  );
  return fc.constantFrom(...operations).chain(({ path, verb, operation }) => {
    const content = Object.entries(operation.requestBody?.content ?? {});
    const [type = "", { schema = undefined } = {}] = content[0] ?? [];
    const isJson = type === "application/json";
    const asBody = (fits: boolean) => (value: unknown) => ({ fits, bytes: bytesOf(JSON.stringify(value) ?? "") });
    const raw = rawBodies.map((bytes) => ({ fits: false, bytes }));
    const wrong = usually(3, values.nearly(schema ?? {}), hostile).map(asBody(false));
    const json = usually(2, values.fitting(schema ?? {}).map(asBody(true)), wrong);
    const body = isJson ? usually(8, json, raw) : raw;
    const none = fc.constant({ fits: false, bytes: new Uint8Array() });
    const pick = (where: string) => operation.parameters.filter((parameter) => parameter.in === where);
    const inQuery = fc.record(
      Object.fromEntries(
        pick("query").map(({ name, schema }) => [
          name,
          usually(
            3,
            values.fitting(schema).map((value) => encodeURIComponent(String(value).toWellFormed())),
            inUrl,
          ),
        ]),
      ),
      { requiredKeys: [] },
    );
    const inPath = fc.record(
      Object.fromEntries(
        pick("path").map(({ name }) => [
          name,
          usually(3, fc.constantFrom("abc", crypto.randomUUID(), ...known), inUrl),
        ]),
      ),
    );
    const inHeaders = fc.record(
      Object.fromEntries(
        pick("header").map(({ name, schema, required }) => [
          name,
          usually(
            required ? 6 : 1,
            values.fitting(schema).map((value) => String(value).replace(/[^\x20-\x7e]/g, "?")),
            inHeader,
          ),
        ]),
      ),
    );
    return fc
      .record({
        who: fc.constantFrom(...whos),
        method: usually(12, fc.constant(verb), fc.constantFrom(...verbs, "trace", "propfind", "QUERY")),
        inPath,
        inQuery,
        extra: usually(
          8,
          fc.constant(""),
          fc.constantFrom("&w=1&w=2", "&__proto__=1", "&a[b]=c", "&%", "&=", "&token="),
        ),
        headers: usually(4, inHeaders, strangeHeaders),
        type: usually(
          8,
          fc.constant(type === "multipart/form-data" ? "multipart/form-data; boundary=x" : type),
          fc.constantFrom(...badTypes),
        ),
        body: operation.requestBody ? body : usually(6, none, raw),
      })
      .map(({ who, method, inPath, inQuery, extra, headers, type, body }) => {
        const filled = path.replace(/\{(\w+)\}/g, (_, name) => inPath[name] ?? "");
        const query = Object.entries(inQuery).map(([name, value]) => `${name}=${value}`);
        const search = `${query.join("&")}${extra}`;
        return {
          path,
          verb,
          method: method.toUpperCase(),
          url: filled + (search && `?${search}`),
          who,
          headers: { ...headers, ...(type && { "content-type": type }) } as Record<string, string>,
          body: body.bytes,
          fits: body.fits,
        };
      });
  });
}

export interface FuzzAnswer {
  /** 0 when the connection ended without an answer. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Sends the request unchanged: `fetch` would correct parts of it. */
export function sendRaw(
  base: string,
  { method, url, headers, body }: Pick<FuzzRequest, "method" | "url" | "headers" | "body">,
) {
  const { hostname, port } = new URL(base);
  return new Promise<FuzzAnswer>((resolve, reject) => {
    const bodyHeader = body.length > 0 ? { "content-length": body.length } : {};
    const options = { hostname, port, method, path: url, headers: { ...headers, ...bodyHeader }, timeout: 20_000 };
    const asked = send(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8"),
        });
      });
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer within 20 s")));
    asked.on("error", reject);
    asked.end(body);
  });
}
