/** Images on the storage route: parameters, WebP for browsers that accept it, and refusals. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, fileProcedures, stored } from "../support/files.ts";
import { apiWith, service, type User } from "../support/service.ts";

const dir = bytesFolder();
const procedures = { procedures: fileProcedures };
const db = database();
const svc = service(db, apiWith(procedures), { storage: { driver: "disk", dir }, plan: "pro" });
const personal = service(database(), apiWith(procedures), {
  storage: { driver: "disk", dir: bytesFolder() },
  plan: "personal",
});
const free = service(database(), apiWith(procedures), {
  storage: { driver: "disk", dir: bytesFolder() },
  plan: "free",
});
let ann: User;
let photo: string;

const png = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#2060c0" } })
    .png()
    .toBuffer();
const asFile = (bytes: Buffer, type = "image/png", name = "photo.png") =>
  new File([new Uint8Array(bytes)], name, { type });

beforeAll(async () => {
  ann = await svc.signUp("ann");
  photo = await stored(svc, ann, asFile(await png(60, 40)), { visibility: "public" });
});

async function get(path: string, accept = "image/png") {
  const response = await fetch(`${svc.url}${path}`, { headers: { accept } });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}
const size = async (bytes: Buffer) => {
  const { width, height, format } = await sharp(bytes).metadata();
  return [width, height, format];
};
const transformsOnDisk = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && entry.parentPath.includes("transforms"),
  );

describe("parameters", () => {
  const made: [string, number, number, string][] = [
    ["w=30", 30, 20, "png"],
    ["h=20", 30, 20, "png"],
    ["w=1&h=1", 1, 1, "png"],
    ["w=20&h=20", 20, 20, "png"],
    ["w=20&h=20&fit=cover", 20, 20, "png"],
    ["w=20&h=20&fit=contain", 20, 20, "png"],
    ["w=20&h=20&fit=fill", 20, 20, "png"],
    ["w=30&h=30&fit=inside", 30, 20, "png"],
    ["w=120", 120, 80, "png"],
    ["f=webp", 60, 40, "webp"],
    ["f=jpeg&q=1", 60, 40, "jpeg"],
    ["f=png&q=100", 60, 40, "png"],
    ["f=avif", 60, 40, "heif"],
    ["w=4096&h=1&fit=fill", 4096, 1, "png"],
  ];
  test.each(made)("%s gives %i by %i, %s", async (query, width, height, format) => {
    const { status, bytes } = await get(`/api/storage/${photo}?${query}`);
    expect([status, ...(await size(bytes))]).toEqual([200, width, height, format]);
  });

  test("fit=contain pads a JPEG, which has no transparency, with white", async () => {
    const { bytes } = await get(`/api/storage/${photo}?w=60&h=60&fit=contain&f=jpeg`);
    const corner = (await sharp(bytes).raw().toBuffer()).subarray(0, 3);
    expect(Math.min(...corner)).toBeGreaterThan(245); // JPEG is not exact
  });

  const refused = [
    "w=0",
    "w=4097",
    "w=-1",
    "w=1.5",
    "w=abc",
    "w=",
    "w=1e2",
    "h=0",
    "h=4097",
    "h=99999",
    "q=0",
    "q=101",
    "q=x",
    "f=gif",
    "f=svg",
    "f=",
    "f=JPEG",
    "fit=outside",
    "fit=",
    "w=1&w=2",
  ];
  test.each(refused)("%s is 400 and says what is allowed", async (query) => {
    const { status, body } = await svc.fetch(`/api/storage/${photo}?${query}`);
    expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(body.issues[0].message).toMatch(/from 1 to (4096|100)|must be one of|more than once/);
  });

  test("are appended to a read grant's url with &", async () => {
    const id = await stored(svc, ann, asFile(await png(60, 40)));
    const { url } = (await svc.query(ann, "files.grant", { id })).body.json;
    const { status, bytes, headers } = await get(`${url}&w=30&f=webp`);
    expect([status, ...(await size(bytes))]).toEqual([200, 30, 20, "webp"]);
    expect(headers.get("cache-control")).toMatch(/^private/);
    expect((await get(`/api/storage/${id}?w=30`)).status).toBe(404);
  });

  test("give each result an ETag of its own, the same for the same", async () => {
    const tag = async (query: string) => (await get(`/api/storage/${photo}?${query}`)).headers.get("etag");
    const queries = ["w=50", "h=50", "q=50", "w=50&h=51", "w=50&q=51", "h=50&q=51", "h=50&fit=fill"];
    const tags = await Promise.all(queries.map(tag));
    expect(new Set(tags).size).toBe(queries.length);
    expect(await tag("q=51&w=50")).toBe(tags[4]);
  });

  test("of a file that is no image are refused", async () => {
    const id = await stored(svc, ann, new File(["text"], "a.txt", { type: "text/plain" }), { visibility: "public" });
    expect((await get(`/api/storage/${id}?w=10`)).status).toBe(400);
  });
});

describe("without parameters", () => {
  test("a browser that takes WebP gets WebP", async () => {
    const { headers, bytes } = await get(`/api/storage/${photo}`, "image/avif,image/webp,*/*;q=0.8");
    expect([headers.get("content-type"), headers.get("vary"), ...(await size(bytes))]).toEqual([
      "image/webp",
      expect.stringContaining("Accept"),
      60,
      40,
      "webp",
    ]);
  });

  test.each(["*/*", "image/*", "image/webp;q=0", "text/html"])(
    "one that accepts %s gets the original",
    async (accept) => {
      const { headers, bytes } = await get(`/api/storage/${photo}`, accept);
      expect([headers.get("content-type"), headers.get("vary")]).toEqual([
        "image/png",
        expect.stringContaining("Accept"),
      ]);
      expect(await size(bytes)).toEqual([60, 40, "png"]);
    },
  );

  test("what cannot be read is sent as it is", async () => {
    const broken = asFile(Buffer.from("\x89PNG\r\n\x1a\n, and no more", "latin1"));
    const id = await stored(svc, ann, broken, { visibility: "public" });
    const { status, headers } = await get(`/api/storage/${id}`, "image/webp");
    expect([status, headers.get("content-type")]).toEqual([200, "image/png"]);
    expect((await get(`/api/storage/${id}?w=10`)).status).toBe(400);
  });
});

test("on the plan free parameters are refused, and WebP is still served", async () => {
  const user = await free.signUp("free");
  const id = await stored(free, user, asFile(await png(10, 10)), { visibility: "public" });
  const { status, body } = await free.fetch(`/api/storage/${id}?w=5`);
  expect([status, body.code]).toEqual([403, "PLAN_REQUIRED"]);
  const response = await fetch(`${free.url}/api/storage/${id}`, { headers: { accept: "image/webp" } });
  expect(response.headers.get("content-type")).toBe("image/webp");
});

test("on the plans personal and pro they are taken", async () => {
  const id = await stored(personal, await personal.signUp("personal"), asFile(await png(10, 10)), {
    visibility: "public",
  });
  expect((await personal.fetch(`/api/storage/${id}?w=5`)).status).toBe(200);
  expect((await get(`/api/storage/${photo}?w=5`)).status).toBe(200);
});

describe("transforms that were made", () => {
  test("are kept, once however many ask, and gone with the object", async () => {
    const id = await stored(svc, ann, asFile(await png(800, 800)), { visibility: "public" });
    const before = transformsOnDisk().length;
    const answers = await Promise.all(Array.from({ length: 50 }, () => get(`/api/storage/${id}?w=400&f=webp`)));
    expect(new Set(answers.map(({ bytes }) => bytes.toString("base64"))).size).toBe(1);
    expect(transformsOnDisk()).toHaveLength(before + 1);
    await svc.mutate(ann, "files.remove", { id });
    expect(transformsOnDisk()).toHaveLength(before);
    expect((await get(`/api/storage/${id}?w=400&f=webp`)).status).toBe(404);
  });

  test("while the object is deleted leave nothing behind", async () => {
    const before = transformsOnDisk().length;
    for (let round = 0; round < 5; round++) {
      const id = await stored(svc, ann, asFile(await png(1500, 1500)), { visibility: "public" });
      await Promise.all([
        ...[100, 200, 300].map((w) => get(`/api/storage/${id}?w=${w}&f=avif`)),
        svc.mutate(ann, "files.remove", { id }),
      ]);
    }
    expect(transformsOnDisk()).toHaveLength(before);
  });

  test("are not sent once the object is private", async () => {
    const id = await stored(svc, ann, asFile(await png(20, 20)), { visibility: "public" });
    expect((await get(`/api/storage/${id}?w=10`)).status).toBe(200);
    await svc.mutate(ann, "files.setVisibility", { id, visibility: "private" });
    expect((await get(`/api/storage/${id}?w=10`)).status).toBe(404);
  });

  // The last test: tokens from before a restart are invalid after it, because of the new port.
  test("that a power cut left in pieces are made again", async () => {
    const id = await stored(svc, ann, asFile(await png(40, 40)), { visibility: "public" });
    await get(`/api/storage/${id}?w=11`);
    const bytes = await bytesIdOf(db, id);
    const [file] = transformsOnDisk().filter(({ parentPath }) => parentPath.includes(bytes));
    const path = join(file?.parentPath ?? "", file?.name ?? "");
    for (const left of ["", "image/png", `image/png 7\n${"\0".repeat(80)}`]) {
      writeFileSync(path, left);
      await svc.stop();
      await svc.start();
      const { status, bytes } = await get(`/api/storage/${id}?w=11`);
      expect([status, ...(await size(bytes))]).toEqual([200, 11, 11, "png"]);
    }
  });
});
