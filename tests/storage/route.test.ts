/** The storage route: who gets which bytes, with which headers. */
import { beforeAll, describe, expect, test } from "vitest";
import { ReadGrants } from "../../src/storage/read-grants.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { apiWith, secret, service, type User } from "../support/service.ts";

const svc = service(database(), apiWith({ procedures: fileProcedures }), {
  storage: { driver: "disk", dir: bytesFolder() },
});
let ann: User;
let mine: string;
let open: string;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  mine = await stored(svc, ann, new File(["0123456789"], "mine.txt", { type: "text/plain" }));
  open = await stored(svc, ann, new File(["0123456789"], "open.mp4", { type: "video/mp4" }), { visibility: "public" });
});

const grant = async (id: string, options = {}) => (await svc.query(ann, "files.grant", { id, options })).body.json;
const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${svc.url}${path}`, { headers, method });

describe("a private object", () => {
  test("is answered as one that does not exist", async () => {
    const [found, unknown] = await Promise.all(
      [mine, crypto.randomUUID()].map((id) => svc.fetch(`/api/storage/${id}`)),
    );
    expect(found?.status).toBe(404);
    const shape = ({ body, headers }: NonNullable<typeof found>) => [
      { ...body, requestId: "" },
      [...headers.keys()].sort(),
      headers.get("content-length"),
    ];
    if (!found || !unknown) throw new Error("two answers");
    expect(shape(found)).toEqual(shape(unknown));
  });

  test("is sent under a read grant, to whoever has it", async () => {
    const { url, expiresAt } = await grant(mine);
    expect(url).toMatch(new RegExp(`^/api/storage/${mine}\\?grant=`));
    const seconds = (Date.parse(expiresAt) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(290);
    expect(seconds).toBeLessThanOrEqual(301);
    const response = await get(url);
    expect([response.status, await response.text()]).toEqual([200, "0123456789"]);
    expect(response.headers.get("cache-control")).toMatch(/^private, max-age=\d+$/);
  });

  test("is not sent to its owner's own token: the route knows grants alone", async () => {
    const headers = { authorization: `Bearer ${ann.token}` };
    expect((await get(`/api/storage/${mine}`, headers)).status).toBe(404);
  });
});

describe("a grant", () => {
  test("with an option that there is not, is refused: it would last as long as it does without", async () => {
    const ask = async (options: unknown) => (await svc.query(ann, "files.grant", { id: mine, options })).body.error;
    expect(await ask({ ttl: 5 })).toMatch('createReadGrant: "ttl" is not a known key. Did you mean "ttlSeconds"?');
    expect(await ask({ Disposition: "attachment" })).toMatch('Did you mean "disposition"?');
    expect(await ask(5)).toMatch("createReadGrant: must be an object");
  });

  test("that was tampered with, for another object, or over, is none", async () => {
    const { url } = await grant(mine);
    const given = url.split("grant=")[1] as string;
    const other = await stored(svc, ann, new File(["x"], "x"));
    const bad = new Set<string>();
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    for (let at = 0; at < given.length; at++) {
      for (const letter of letters) bad.add(given.slice(0, at) + letter + given.slice(at + 1));
      bad.add(given.slice(0, at));
    }
    bad.delete(given);
    const over = new ReadGrants([secret]).sign(mine, {
      issuer: `user ${ann.id}`,
      disposition: "inline",
      expires: Math.floor(Date.now() / 1000) - 1,
    });
    const forged = new ReadGrants(["another secret of thirty-two characters"]).sign(mine, {
      issuer: `user ${ann.id}`,
      disposition: "inline",
      expires: Math.floor(Date.now() / 1000) + 1000,
    });
    // Each spelling is checked by the route's own function; a sample of them also over HTTP.
    const grants = new ReadGrants([secret]);
    for (const spelling of [...bad, over, forged]) expect(grants.verify(mine, spelling)).toBeNull();
    for (const spelling of [over, forged, ...[...bad].filter((_, index) => index % 150 === 0)]) {
      expect((await get(`/api/storage/${mine}?grant=${encodeURIComponent(spelling)}`)).status).toBe(404);
    }
    expect((await get(`/api/storage/${other}?grant=${given}`)).status).toBe(404);
    expect((await get(`/api/storage/${mine}?grant=`)).status).toBe(404);
  });

  test("is read as the caller that it was made for", () => {
    const grants = new ReadGrants([secret]);
    for (const issuer of ["anonymous", "system", "user anonymous", "user s.ü"] as const) {
      const given = { issuer, disposition: "inline", expires: Math.floor(Date.now() / 1000) + 60 } as const;
      expect(grants.verify(mine, grants.sign(mine, given))).toEqual(given);
    }
  });

  test("keeps working when a newer secret comes first, and never reaches the log", async () => {
    const given = {
      issuer: `user ${ann.id}`,
      disposition: "inline",
      expires: Math.floor(Date.now() / 1000) + 60,
    } as const;
    const old = new ReadGrants([secret]).sign(mine, given);
    const grants = new ReadGrants(["a newer secret of at least thirty-two characters", secret]);
    expect(grants.verify(mine, old)).toEqual(given);
    const { url } = await grant(mine);
    await get(url);
    await get(url.replace("grant=", "grant=x"));
    const token = url.split("grant=")[1] as string;
    expect(svc.logged.join("")).not.toContain(token);
  });

  test("says how the file is offered", async () => {
    const image = await stored(svc, ann, new File(["not really"], "photo.png", { type: "image/png" }));
    const shown = await get((await grant(image)).url);
    const saved = await get((await grant(image, { disposition: "attachment" })).url);
    expect(shown.headers.get("content-disposition")).toBe("inline; filename=photo.png");
    expect(saved.headers.get("content-disposition")).toBe("attachment; filename=photo.png");
  });

  const wrong = [{ ttlSeconds: 0 }, { ttlSeconds: 604_801 }, { ttlSeconds: "1" }, { disposition: "form-data" }];
  test.each(wrong)("is refused for %o", async (options) => {
    expect((await svc.query(ann, "files.grant", { id: mine, options })).status).toBe(400);
  });
});

describe("a public object", () => {
  test("is sent with its size, its ETag and how long it may be kept", async () => {
    const response = await get(`/api/storage/${open}`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "video/mp4",
      "content-length": "10",
      "accept-ranges": "bytes",
      "cache-control": "public, max-age=3600, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "cross-origin",
    });
    expect(response.headers.get("content-security-policy")).toContain("sandbox");
    expect(await response.text()).toBe("0123456789");
  });

  test("is not sent again to who has it", async () => {
    const etag = (await get(`/api/storage/${open}`)).headers.get("etag") as string;
    const again = await get(`/api/storage/${open}`, { "if-none-match": etag });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    for (const known of [`W/${etag}`, `"other", ${etag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const headers = { "if-none-match": known, range: "bytes=0-1" };
        expect([known, (await get(`/api/storage/${open}`, headers, method)).status]).toEqual([known, 304]);
      }
    }
    for (const other of ['"other"', etag.slice(1, -1), `"${etag}"`]) {
      expect([other, (await get(`/api/storage/${open}`, { "if-none-match": other })).status]).toEqual([other, 200]);
    }
  });

  test("answers HEAD with the headers of GET, and no body", async () => {
    const head = await get(`/api/storage/${open}`, {}, "HEAD");
    expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "10", ""]);
  });

  const ranges: [string, number, string, string | null][] = [
    ["bytes=0-3", 206, "0123", "bytes 0-3/10"],
    ["bytes=4-", 206, "456789", "bytes 4-9/10"],
    ["bytes=-2", 206, "89", "bytes 8-9/10"],
    ["bytes=8-99", 206, "89", "bytes 8-9/10"],
    ["bytes=10-", 416, "", "bytes */10"],
    ["bytes=5-2", 416, "", "bytes */10"],
    ["bytes=0-1,5-6", 200, "0123456789", null],
    ["lines=0-1", 200, "0123456789", null],
    ["nonsense", 200, "0123456789", null],
    ["bytes=0-", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=9-9", 206, "9", "bytes 9-9/10"],
    ["bytes=-99", 206, "0123456789", "bytes 0-9/10"],
    ["BYTES=1-2", 206, "12", "bytes 1-2/10"],
    ["bytes=0-99999999999999999999", 206, "0123456789", "bytes 0-9/10"],
    ["bytes=99999999999999999999-", 416, "", "bytes */10"],
    ["bytes=-0", 416, "", "bytes */10"],
    ["bytes=", 200, "0123456789", null],
    ["bytes=-", 200, "0123456789", null],
    ["bytes=a-b", 200, "0123456789", null],
    ["bytes=0x1-2", 200, "0123456789", null],
    ["bytes=1.5-2", 200, "0123456789", null],
    ["bytes=--1", 200, "0123456789", null],
  ];
  test.each(ranges)("answers Range: %s with %i", async (range, status, body, contentRange) => {
    const response = await get(`/api/storage/${open}`, { range });
    expect([response.status, await response.text(), response.headers.get("content-range")]).toEqual([
      status,
      body,
      contentRange,
    ]);
  });

  test("sends a range of the version that the client has, and everything of another one", async () => {
    const etag = (await get(`/api/storage/${open}`)).headers.get("etag") as string;
    const versions = { [etag]: 206, '"another"': 200, [`W/${etag}`]: 200, "Sat, 21 Nov 2026 12:00:00 GMT": 200 };
    for (const [version, status] of Object.entries(versions)) {
      const response = await get(`/api/storage/${open}`, { range: "bytes=0-3", "if-range": version });
      expect([version, response.status, await response.text()]).toEqual([
        version,
        status,
        status === 206 ? "0123" : "0123456789",
      ]);
    }
  });

  test("answers HEAD without a range, which is GET's alone", async () => {
    const head = await get(`/api/storage/${open}`, { range: "bytes=0-3" }, "HEAD");
    expect([head.status, head.headers.get("content-length"), head.headers.get("content-range")]).toEqual([
      200,
      "10",
      null,
    ]);
  });

  const pages = ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/javascript"];
  test.each(pages)("of type %s is saved, never shown", async (type) => {
    const file = new File(["<script>alert(1)</script>"], "page.html", { type });
    const id = await stored(svc, ann, file, { visibility: "public" });
    const { headers } = await get(`/api/storage/${id}`, { accept: "image/webp" });
    expect(headers.get("content-disposition")).toMatch(/^attachment/);
    expect(headers.get("content-security-policy")).toContain("sandbox");
  });

  test("that is empty is sent as nothing", async () => {
    const id = await stored(svc, ann, new File([], "empty"), { visibility: "public" });
    const response = await get(`/api/storage/${id}`, { range: "bytes=0-" });
    expect([response.status, await response.text()]).toEqual([416, ""]);
    expect((await get(`/api/storage/${id}`)).headers.get("content-length")).toBe("0");
  });
});

test.each(["nonsense", "..%2f..%2fetc%2fpasswd", "%00", "a".repeat(5000)])("an id such as %s is 404", async (id) => {
  expect((await get(`/api/storage/${id}`)).status).toBe(404);
});

describe("requests that arrive together", () => {
  test("get each its own answer, whatever the others have grants for", async () => {
    const { url } = await grant(mine);
    const wanted: [string, number, string][] = Array.from({ length: 30 }, (_, index): [string, number, string][] => [
      [`/api/storage/${open}`, 200, "0123456789"],
      [`/api/storage/${mine}`, 404, ""],
      [url, 200, "0123456789"],
      [`${url.slice(0, -1)}${index % 2 ? "" : "!"}`, 404, ""],
      [`/api/storage/${crypto.randomUUID()}`, 404, ""],
      [url.replace(mine, open), 200, "0123456789"],
    ]).flat();
    const answers = await Promise.all(
      wanted.map(async ([path]) => {
        const response = await get(path);
        return [path, response.status, response.status === 200 ? await response.text() : ""];
      }),
    );
    expect(answers).toEqual(wanted);
  });

  test("see what was committed before the last of them, however many ask", async () => {
    const id = await stored(svc, ann, new File(["now and then"], "a.txt"), { visibility: "public" });
    let done = false;
    const crowd = Array.from({ length: 20 }, async () => {
      while (!done) await (await get(`/api/storage/${id}`)).arrayBuffer();
    });
    for (let round = 0; round < 20; round++) {
      const visibility = round % 2 ? "public" : "private";
      await svc.mutate(ann, "files.setVisibility", { id, visibility });
      expect([round, (await get(`/api/storage/${id}`)).status]).toEqual([round, round % 2 ? 200 : 404]);
    }
    done = true;
    await Promise.all(crowd);
  });
});
