/** Hostile files and requests, and stores that lose bytes: what an attacker or a broken disk must not achieve. */
import { once } from "node:events";
import { readdirSync, readlinkSync, truncateSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { startExchange } from "../../src/http/exchange.ts";
import { ReadGrants } from "../../src/storage/read-grants.ts";
import { sendFile } from "../../src/storage/send-file.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, fileProcedures, send, stored } from "../support/files.ts";
import { apiWith, secret, service, type User } from "../support/service.ts";

const db = database();
const dir = bytesFolder();
const svc = service(db, apiWith({ procedures: fileProcedures }), { storage: { driver: "disk", dir } });
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});

const open = { visibility: "public" };
const get = (path: string, headers: Record<string, string> = {}) => fetch(`${svc.url}${path}`, { headers });
const image = async (width: number, height: number) =>
  new File(
    [
      new Uint8Array(
        await sharp({ create: { width, height, channels: 3, background: "#fff" } })
          .png()
          .toBuffer(),
      ),
    ],
    "image.png",
    { type: "image/png" },
  );

describe("a grant", () => {
  test("for what somebody else made public is not given: it would outlive that", async () => {
    const id = await stored(svc, ann, new File(["open for now"], "a.txt"), open);
    for (const user of [bob, null]) {
      expect((await svc.query(user, "files.grant", { id, options: { ttlSeconds: 604_800 } })).status).toBe(404);
    }
    expect((await svc.query(ann, "files.grant", { id })).status).toBe(200);
  });

  test("cannot be widened, lent to another object or signed by a former secret that was removed", async () => {
    const grants = new ReadGrants([secret]);
    const [id, other] = [crypto.randomUUID(), crypto.randomUUID()];
    const soon = Math.floor(Date.now() / 1000) + 60;
    let tried = 0;
    for (let round = 0; round < 2_000; round++) {
      const [expires, disposition, issuer, signature] = grants
        .sign(id, { issuer: "user ann", disposition: "inline", expires: soon + round })
        .split(".");
      const later = (soon + round + 1).toString(36);
      const attachment = { issuer: "user ann", disposition: "attachment", expires: soon + round } as const;
      const [, , , attached] = grants.sign(id, attachment).split(".");
      const whole = `${expires}.${disposition}.${issuer}.${signature}`;
      expect(grants.verify(id, whole)).toMatchObject({ issuer: "user ann" });
      const tampered = [
        `${later}.${disposition}.${issuer}.${signature}`,
        `${expires}.attachment.${issuer}.${signature}`,
        `${expires}.${disposition}.${issuer}.${attached}`,
        `${expires}.${disposition}.s.${signature}`,
        `${expires}.${disposition}.u${Buffer.from("bob").toString("base64url")}.${signature}`,
        `${expires}.${disposition}.${signature}`,
        `0${whole}`,
        `${expires?.toUpperCase()}.${disposition}.${issuer}.${signature}`,
        `${whole}=`,
        ` ${whole}`,
      ].filter((grant) => grant !== whole);
      for (const grant of tampered) expect(grants.verify(id, grant), grant).toBeNull();
      expect(grants.verify(other, whole)).toBeNull();
      tried += tampered.length + 1;
    }
    expect(tried).toBeGreaterThan(10_000);
    const former = new ReadGrants(["a former secret, as long as it must be"]);
    expect(grants.verify(id, former.sign(id, { issuer: "system", disposition: "inline", expires: soon }))).toBeNull();
  });

  test("given twice in a URL counts once, the first", async () => {
    const id = await stored(svc, ann, new File(["x"], "a.txt"));
    const { url } = (await svc.query(ann, "files.grant", { id })).body.json;
    expect((await get(`/api/storage/${id}?grant=x&${url.split("?")[1]}`)).status).toBe(404);
  });

  test("ends with its object", async () => {
    const id = await stored(svc, ann, new File(["x"], "a.txt"));
    const { url } = (await svc.query(ann, "files.grant", { id })).body.json;
    await svc.mutate(ann, "files.remove", { id });
    expect((await get(url)).status).toBe(404);
  });
});

describe("a picture's parameters", () => {
  // One side is given, the other follows: a hair of 1 by 200 would become 4,096 by 819,200.
  test.each(["w=4096&f=png", "w=4096&f=webp", "w=4096", "w=4096&f=jpeg"])(
    "%s of a picture one pixel wide are refused, not computed",
    async (query) => {
      const id = await stored(svc, ann, await image(1, 200), open);
      const response = await get(`/api/storage/${id}?${query}`);
      expect(response.status).toBe(400);
    },
  );

  test("of many frames are refused when all of them together would be too large", async () => {
    const frames = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        sharp({ create: { width: 8, height: 8, channels: 3, background: { r: index * 20, g: 0, b: 0 } } })
          .png()
          .toBuffer(),
      ),
    );
    const bytes = await sharp(frames, { join: { animated: true } })
      .webp()
      .toBuffer();
    const id = await stored(svc, ann, new File([new Uint8Array(bytes)], "a.webp", { type: "image/webp" }), open);
    expect((await get(`/api/storage/${id}?w=80&f=webp`)).status).toBe(200);
    expect((await get(`/api/storage/${id}?w=4096&h=4096&f=webp`)).status).toBe(400);
  });
});

describe("a file that is two things at once", () => {
  const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  const script = "<script>fetch('//evil')</script>";
  const cases: [string, Uint8Array | string, string, string][] = [
    ["GIF and HTML", Buffer.concat([gif, Buffer.from(script)]), "image/gif", "inline"],
    ["SVG that says it is PNG", `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`, "image/png", "inline"],
    [
      "SVG that says it is SVG",
      `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`,
      "image/svg+xml",
      "attachment",
    ],
    ["HTML that says it is text", `<!doctype html>${script}`, "text/plain", "attachment"],
    ["HTML in capitals", script, "TEXT/HTML; charset=utf-7", "attachment"],
    ["PDF", "%PDF-1.7 /OpenAction", "application/pdf", "attachment"],
    [
      "XML that says it is a film",
      `<a xmlns="http://www.w3.org/1999/xhtml">${script}</a>`,
      "video/a+xml",
      "attachment",
    ],
    ["multipart", script, "multipart/x-mixed-replace", "attachment"],
  ];
  test.each(cases)("(%s) never runs on this origin", async (_case, content, type, offered) => {
    const id = await stored(svc, ann, new File([content as BlobPart], "a", { type }), open);
    for (const accept of ["*/*", "image/webp,text/html"]) {
      const response = await get(`/api/storage/${id}`, { accept });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-disposition")).toMatch(new RegExp(`^${offered}`));
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("content-security-policy")).toContain("sandbox");
      expect(response.headers.get("content-type")).not.toMatch(/utf-7/);
    }
  });

  test("SVG that says it is PNG is not drawn", async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="file:///etc/passwd"/></svg>';
    const id = await stored(svc, ann, new File([svg], "a.png", { type: "image/png" }), open);
    expect((await get(`/api/storage/${id}?w=10`)).status).toBe(400);
  });
});

describe("a name", () => {
  const names: [string, string?][] = [
    ['a"; filename="evil.html'],
    ["a\r\nset-cookie: a=b"],
    ["%0d%0aset-cookie:a=b"],
    ["\ud800 half a letter"],
    ["..\\..\\windows\\system32\\a.dll"],
    ["a/../../b"],
    ["-rf"],
    ["CON"],
    ["한글 이름 ✓.txt"],
    ["one that is 4 KB long", "a".repeat(4096)],
    ["one of 4,096 letters that are two bytes each", "é".repeat(4096)],
  ];
  test.each(names)("such as %s neither breaks a header nor names a path", async (shown, name = shown) => {
    const { body } = await send(svc, ann, "files.store", new File(["x"], "x"), { ...open, name });
    const { id } = body.json;
    const response = await get(`/api/storage/${id}`);
    expect([response.status, response.headers.get("set-cookie")]).toEqual([200, null]);
    const meta = (await svc.query(ann, "files.meta", { id })).body.json;
    expect(meta.name).not.toMatch(/[/\\\r\n]/);
    expect(Buffer.byteLength(meta.name)).toBeLessThanOrEqual(255);
    expect(response.headers.get("content-disposition")).toMatch(/^attachment(; filename\*?=[^;]+)*$|"/);
    const onDisk = readdirSync(dir, { recursive: true }).map(String);
    expect(onDisk.filter((path) => !/^[\w-]+(\/[\w-]+)*$/.test(path))).toEqual([]);
  });
});

describe("bytes that are not as the row says", () => {
  test("end the connection: a client must not take the next answer for what is missing", async () => {
    const id = await stored(svc, ann, new File([new Uint8Array(200_000)], "a.bin"), open);
    const bytes = await bytesIdOf(db, id);
    truncateSync(join(dir, "objects", bytes.slice(0, 2), bytes), 1_000);
    const socket = connect(Number(new URL(svc.url).port), "localhost");
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;
    socket.write(request(`/api/storage/${id}`) + request("/healthz"));
    const answers = (await text(socket)).match(/^HTTP\/1.1 \d+/gm);
    expect(answers).toEqual(["HTTP/1.1 200"]);
    await expect.poll(() => svc.logged.join("")).toContain("The store has 1000 bytes where the row says 200000.");
  });
});

describe("downloads that are broken off", () => {
  test("leave no file open", async () => {
    const id = await stored(svc, ann, new File([new Uint8Array(8_000_000)], "a.bin"), open);
    await Promise.all(
      Array.from({ length: 30 }, async () => {
        const stop = new AbortController();
        const response = await fetch(`${svc.url}/api/storage/${id}`, { signal: stop.signal });
        await response.body?.getReader().read();
        stop.abort();
      }),
    );
    await expect.poll(() => openFiles().filter((path) => path.endsWith(id))).toEqual([]);
  });

  test("before the file has been opened leave none open either", async () => {
    const stream = new Readable({ read() {} });
    const server = createServer(async (request, response) => {
      startExchange(response, "", {});
      const open = async () => {
        await once(response, "close");
        return stream;
      };
      const file = {
        name: "a",
        type: "text/plain",
        size: 10,
        etag: '"a"',
        disposition: "inline",
        headers: {},
        open,
      } as const;
      await sendFile(request, response, file, createLog("silent"));
    });
    await once(server.listen(0), "listening");
    const socket = connect((server.address() as AddressInfo).port, "localhost");
    server.once("request", () => socket.resetAndDestroy());
    socket.on("error", () => {});
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await expect.poll(() => stream.destroyed).toBe(true);
    server.close();
  });
});

describe("a change of visibility", () => {
  test("while many read leaves each answer whole, or none", async () => {
    const content = "0123456789".repeat(10_000);
    const id = await stored(svc, ann, new File([content], "a.txt"), open);
    const reads = Array.from({ length: 60 }, async () => {
      const { status, body } = await svc.fetch(`/api/storage/${id}`);
      return status === 404 || (status === 200 && body === content);
    });
    const flips = ["private", "public", "private"].map((visibility) =>
      svc.mutate(ann, "files.setVisibility", { id, visibility }),
    );
    expect(new Set(await Promise.all(reads))).toEqual(new Set([true]));
    for (const { status } of await Promise.all(flips)) expect([200, 409]).toContain(status);
  });
});

test("what is deleted while its transforms are made answers 200 or 404, and never an error of ours", async () => {
  const statuses = new Set<number>();
  for (let round = 0; round < 15; round++) {
    const id = await stored(svc, ann, await image(300, 300), open);
    const asked = [10, 20, 30, 40].map(async (w) => statuses.add((await get(`/api/storage/${id}?w=${w}`)).status));
    await Promise.all([...asked, svc.mutate(ann, "files.remove", { id })]);
  }
  statuses.delete(200);
  statuses.delete(404);
  expect([...statuses]).toEqual([]);
});

/** Paths of open files of this process, including the service. */
const openFiles = () =>
  readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // the folder itself
    }
  });
