// If this file fails, pages load slowly, use old scripts, or get the wrong files.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { isKnown } from "../../src/http/conditions.ts";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";

const webDir = await mkdtemp(join(tmpdir(), "svc-static-"));
afterAll(() => rm(webDir, { recursive: true, force: true }));
const script = "console.log('a line of a script');\n".repeat(200);
const hashes = [
  "/assets/index-BKp3vQzA.js",
  "/assets/index-DiwrgTda.css",
  "/assets/deep/chunk-X2FJ4MQ7.js",
  "/assets/app.8f3e21c0.css",
  "/assets/index-BKp3vQzA.js.map",
  "/_next/static/chunks/main-8f3e21c08f3e21c0.js",
];
const plain = [
  "/main.js",
  "/index-BKp3vQzA.js",
  "/assets/date-formatte.js",
  "/assets/lib-20240101.js",
  "/assets/main.js",
];
for (const path of [...hashes, ...plain]) {
  await mkdir(join(webDir, path, ".."), { recursive: true });
  await writeFile(join(webDir, path), script);
}
await writeFile(join(webDir, "index.html"), `<!doctype html><title>x</title>${"<p>text</p>".repeat(300)}`);
await writeFile(join(webDir, "small.js"), "1");
await writeFile(join(webDir, "picture.png"), Buffer.alloc(5000));
await writeFile(join(webDir, ".secret.js"), script);

const db = database();
const svc = service(db, apiWith({}), { webDir } as object);
interface Got {
  status: number;
  header: (name: string) => string | undefined;
  body: Buffer;
}
/** The raw answer: fetch() would decompress it. */
const ask = (path: string, headers: Record<string, string> = {}, method = "GET", of: TestService = svc) =>
  new Promise<Got>((resolve, reject) => {
    const { hostname, port } = new URL(of.url);
    const sent = request({ hostname, port, path, method, headers, agent: false }, async (answer) => {
      const body = Buffer.concat(await answer.toArray());
      resolve({ status: answer.statusCode ?? 0, header: (name) => answer.headers[name]?.toString(), body });
    });
    sent.on("error", reject).end();
  });
const encodings: Record<string, string>[] = [{}, { "accept-encoding": "br" }];

describe("a file", () => {
  test.for(hashes)("with a hash in its name is kept for a year: %s", async (path) => {
    for (const headers of encodings) {
      expect((await ask(path, headers)).header("cache-control")).toBe("public, max-age=31536000, immutable");
    }
  });

  test.for([...plain, "/", "/index.html"])("without one is asked for each time: %s", async (path) => {
    for (const headers of encodings) {
      expect((await ask(path, headers)).header("cache-control")).toBe("public, max-age=0");
    }
  });
});

test("an operator's own cache-control is for all files", async () => {
  const config = { webDir, webHeaders: { "Cache-Control": "no-cache" } } as object;
  const other = new TestService(db, apiWith({}), config);
  await other.start();
  for (const headers of encodings) {
    const answer = await fetch(`${other.url}${hashes[0]}`, { headers });
    expect(answer.headers.get("cache-control")).toBe("no-cache");
  }
  await other.stop();
});

describe("compression", () => {
  test.for([
    ["br", "br"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip", "gzip"],
    ["GZIP;q=0.5", "gzip"],
    ["*", "br"],
    ["br;q=0, *", "gzip"],
    ["br;q=0, gzip;q=0", undefined],
    ["identity", undefined],
    ["deflate", undefined],
    ["", undefined],
  ] as const)("of a client that accepts %j is %s", async ([accepted, encoding]) => {
    const { status, header, body } = await ask("/main.js", { "accept-encoding": accepted });
    expect([status, header("content-encoding")]).toEqual([200, encoding]);
    expect(header("content-type")).toMatch(/^text\/javascript/);
    expect(header("vary")).toBe("Origin, Accept-Encoding");
    expect(header("content-length")).toBe(String(body.length));
    const unpacked = encoding === "br" ? brotliDecompressSync(body) : encoding ? gunzipSync(body) : body;
    expect(unpacked.toString()).toBe(script);
    if (encoding) expect(body.length).toBeLessThan(script.length / 4);
  });

  test("is for pages too, and keeps the headers of all files", async () => {
    const { header, body } = await ask("/", { "accept-encoding": "br" });
    expect(brotliDecompressSync(body).toString()).toContain("<title>x</title>");
    expect(header("content-type")).toMatch(/^text\/html/);
    expect(header("content-security-policy")).toContain("default-src 'self'");
  });

  test("is left out for small files, for pictures, for ranges, and finds no hidden file", async () => {
    const accepted = { "accept-encoding": "br, gzip" };
    for (const path of ["/small.js", "/picture.png"]) {
      expect((await ask(path, accepted)).header("content-encoding")).toBeUndefined();
    }
    const part = await ask("/main.js", { ...accepted, range: "bytes=0-6" });
    expect([part.status, part.body.toString()]).toEqual([206, "console"]);
    for (const path of ["/.secret.js", "/assets/../.secret.js", "/%2esecret.js", "/..%2f..%2fetc%2fx.js", "/%00.js"]) {
      expect((await ask(path, accepted)).status, path).toBeGreaterThanOrEqual(400);
    }
  });

  test("of an answer to HEAD has the length of the one to GET", async () => {
    const accepted = { "accept-encoding": "gzip" };
    const [get, head] = [await ask("/main.js", accepted), await ask("/main.js", accepted, "HEAD")];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.header("content-length")).toBe(get.header("content-length"));
  });

  test("has a tag for each encoding, and a file that changes another one", async () => {
    const tag = async (accepted: string) =>
      String((await ask("/main.js", { "accept-encoding": accepted })).header("etag"));
    const tags = [await tag("br"), await tag("gzip"), await tag("identity")];
    expect(new Set(tags).size).toBe(3);
    const known = {
      "accept-encoding": "br",
      "if-none-match": tags.join(),
      "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
    };
    const same = await ask("/main.js", known);
    expect([same.status, same.body.length, same.header("etag")]).toEqual([304, 0, tags[0]]);
    await writeFile(join(webDir, "main.js"), `${script}// another\n`);
    const changed = await ask("/main.js", known);
    expect(changed.status).toBe(200);
    expect(brotliDecompressSync(changed.body).toString()).toContain("// another");
    await writeFile(join(webDir, "main.js"), script);
  });
});

describe("conditions of files", () => {
  test("If-Match that does not hold is 412, and `*` holds", async () => {
    const refused = await ask("/", { "if-match": '"another"' });
    expect([refused.status, JSON.parse(refused.body.toString()).code]).toEqual([412, "PRECONDITION_FAILED"]);
    expect((await ask("/", { "if-match": "*" })).status).toBe(200);
    expect((await ask("/", { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).status).toBe(412);
  });

  test("a range that is not there is 416, with the length", async () => {
    const { status, header } = await ask("/picture.png", { range: "bytes=9000-" });
    expect([status, header("content-range")]).toEqual([416, "bytes */5000"]);
  });
});

describe("If-None-Match", () => {
  test.for([
    [undefined, false],
    ["", false],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", W/"a"', true],
    ['"b,c","a"', true],
    ['"b, \\"a\\""', false],
    ["*", true],
    [" * ", true],
    ['"*"', false],
    ["a", false],
    ['"A"', false],
  ] as const)("%j", ([condition, known]) => {
    expect(isKnown(condition, '"a"')).toBe(known);
    expect(isKnown(condition, 'W/"a"')).toBe(known);
  });

  test("is read in lists, weak tags and `*` by /openapi.json", async () => {
    const etag = String((await ask("/openapi.json")).header("etag"));
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      expect((await ask("/openapi.json", { "if-none-match": known })).status, known).toBe(304);
    }
    expect((await ask("/openapi.json", { "if-none-match": '"x"' })).status).toBe(200);
  });
});

describe("with webFallback", () => {
  const falling = service(db, apiWith({}), { webDir, webFallback: "index.html" } as object);
  const visit = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const page = async (path: string, headers: Record<string, string> = visit, method = "GET") => {
    const { status, header, body } = await ask(path, headers, method, falling);
    return [status, header("content-type")?.split(";")[0], body.subarray(0, 15).toString()];
  };

  test.for(["/tickets/5", "/signed-in", "/signed-in/", "/assets", "/apiary", "/tickets/5?tab=a.b", "/%"])(
    "a visit of a path without a file gets the page: %s",
    async (path) => {
      const got = await ask(path, visit, "GET", falling);
      expect([got.status, got.body.subarray(0, 15).toString()]).toEqual([200, "<!doctype html>"]);
      expect(got.header("cache-control")).toBe("public, max-age=0");
      expect(got.header("vary")?.toLowerCase().split(/, */)).toContain("accept");
      expect(got.header("content-security-policy")).toContain("default-src 'self'");
      const known = { ...visit, "if-none-match": got.header("etag") ?? "" };
      expect((await ask(path, known, "GET", falling)).status).toBe(304);
    },
  );

  test.for<[path: string, headers?: Record<string, string>, method?: string]>([
    ["/assets/gone-BKp3vQzA.js"],
    ["/.env"],
    ["/.secret.js"],
    ["/api/gone"],
    ["/api"],
    ["/tickets/5", { accept: "*/*" }],
    ["/tickets/5", {}],
    ["/tickets/5", visit, "POST"],
  ])("anything else is 404: %j", async ([path, headers, method]) => {
    expect((await page(path, headers, method))[0]).toBe(404);
  });

  test("files and the service's own paths answer as before", async () => {
    expect(await page("/small.js")).toEqual([200, "text/javascript", "1"]);
    expect((await page("/healthz"))[1]).toBe("application/json");
    expect(await page("/tickets/5", { ...visit, "accept-encoding": "br" }, "HEAD")).toEqual([200, "text/html", ""]);
  });
});

test("without webFallback a visit of a path without a file is 404", async () => {
  expect((await ask("/tickets/5", { accept: "text/html" })).status).toBe(404);
});
