/**
 * Real and broken images: each behaves on the storage route as the corpus' manifest says, and no damaged one harms the
 * process. The corpus is beside the repository; without it, these tests are skipped with a message.
 */
import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, extname, join, resolve } from "node:path";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { UnreadableImage } from "../../src/storage/transform-options.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, service, type User } from "../support/service.ts";

interface Entry {
  path: string;
  why: string;
  expect: string;
  actual: { width?: number; height?: number };
  sharp_fit200: { width?: number; error?: string };
}

/** The first `shared/corpora/images` in this folder's ancestors. */
function findCorpus(from: string): string | null {
  const folder = resolve(from, "../shared/corpora/images");
  if (existsSync(folder)) return folder;
  return dirname(from) === from ? null : findCorpus(dirname(from));
}

const corpus = findCorpus(root);
if (!corpus) console.warn("Tests of the image corpus are skipped: there is no ../shared/corpora/images.");
const entries: Entry[] = corpus
  ? readFileSync(join(corpus, "manifest.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
  : [];
const cases = entries.map((entry): [string, string, Entry] => [entry.path, entry.why, entry]);
const bytesOf = (path: string) => readFile(join(corpus ?? "", path));

const types: Record<string, string> = {
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".heif": "image/heif",
  ".ico": "image/x-icon",
  ".svg": "image/svg+xml",
};
/** Whether the libvips of this machine decodes HEVC, which HEIC is made of. The one that comes with sharp does not. */
const readsHeic = (sharp.format.heif.input.fileSuffix ?? []).includes(".heic");
/** Files that cannot be transformed, and must be sent unchanged. */
const refused = new Set(["pixel_limit", "svg", "truncated", "error", ...(readsHeic ? [] : ["decode_or_unsupported"])]);

describe.skipIf(!corpus)("each picture of the corpus", () => {
  const svc = service(database(), apiWith({ procedures: fileProcedures }), {
    storage: { driver: "disk", dir: bytesFolder() },
  });
  let ann: User;
  beforeAll(async () => {
    ann = await svc.signUp("ann");
  });
  const publish = async (path: string) => {
    const type = types[extname(path)] ?? "";
    const file = new File([new Uint8Array(await bytesOf(path))], path, { type });
    return `/api/storage/${await stored(svc, ann, file, { visibility: "public" })}`;
  };
  const get = async (path: string, accept = "*/*") => {
    const response = await fetch(`${svc.url}${path}`, { headers: { accept } });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test.each(cases)("%s (%s) is made 200 pixels wide, or refused", async (path, _why, entry) => {
    const url = await publish(path);
    const { status, bytes } = await get(`${url}?w=200&h=200&fit=inside&f=png`);
    if (refused.has(entry.expect)) return expect(status).toBe(400);
    expect(status).toBe(200);
    const { width = 0, height = 0, format, space } = await sharp(bytes).metadata();
    expect([Math.max(width, height), format]).toEqual([200, "png"]);
    expect(space).not.toBe("cmyk");
  });

  test.each(cases)("%s (%s) is sent to a browser without WebP byte for byte", async (path) => {
    const { status, bytes } = await get(await publish(path));
    expect([status, bytes.equals(await bytesOf(path))]).toEqual([200, true]);
  });

  test.each(cases)("%s (%s) is sent to a browser with WebP as WebP where it can be read", async (path, _why, entry) => {
    const { status, headers } = await get(await publish(path), "image/webp");
    const asIs = refused.has(entry.expect) || [".webp", ".avif"].includes(extname(path));
    expect([status, headers.get("content-type")]).toEqual([200, asIs ? types[extname(path)] : "image/webp"]);
  });

  test("of HEIC is made into another format where libvips can, and is refused by an answer that says so where not", async () => {
    const { status, bytes } = await get(`${await publish("pillow__hopper.heif")}?w=64&f=jpeg`);
    if (readsHeic) return expect((await sharp(bytes).metadata()).width).toBe(64);
    expect(status).toBe(400);
    expect(bytes.toString()).toContain("This server cannot decode HEIC. Store the image as JPEG, PNG, WebP or AVIF.");
  });

  test("is turned upright", async () => {
    const { bytes } = await get(`${await publish("sharp__Landscape_6.jpg")}?w=300`);
    const { width, height, orientation } = await sharp(bytes).metadata();
    expect([width, height, orientation]).toEqual([300, 225, undefined]);
  });

  test("keeps nothing of where it was taken", async () => {
    const { bytes } = await get(`${await publish("pillow__exif_gps.jpg")}?w=8&f=jpeg`);
    expect((await sharp(await bytesOf("pillow__exif_gps.jpg")).metadata()).exif).toBeDefined();
    expect((await sharp(bytes).metadata()).exif).toBeUndefined();
  });

  test("goes on moving as WebP and stands still as anything else", async () => {
    const url = await publish("sharp__rotating-squares.gif");
    expect((await sharp((await get(`${url}?w=40&f=webp`)).bytes).metadata()).pages).toBeGreaterThan(1);
    expect((await sharp((await get(`${url}?w=40&f=png`)).bytes).metadata()).pages ?? 1).toBe(1);
  });

  test("keeps what shines through it, and becomes white in a format that cannot", async () => {
    const url = await publish("sharp__bgbn4a08.png");
    expect((await sharp((await get(`${url}?w=16&f=webp`)).bytes).metadata()).hasAlpha).toBe(true);
    expect((await sharp((await get(`${url}?w=16&f=jpeg`)).bytes).metadata()).hasAlpha).toBe(false);
  });
});

/** `npm run fuzz` does more. */
const times = process.env.FUZZ_RUNS ? 10_000 : 200;

describe.skipIf(!corpus)("a damaged picture", () => {
  const sources = entries.filter(({ expect }) => !["pixel_limit", "svg"].includes(expect));
  /** Bits turned, stretches removed, doubled or filled: the same damage on every run. */
  const damage = (bytes: Buffer, seed: number): Buffer => {
    const random = generator(seed);
    const copy = Buffer.from(bytes);
    const at = () => Math.floor(random() * copy.length);
    for (let count = 1 + Math.floor(random() * 12); count > 0; count--) {
      const [from, to] = [at(), at()].sort((a, b) => a - b) as [number, number];
      const kind = Math.floor(random() * 4);
      if (kind === 0) copy[from] = (copy[from] ?? 0) ^ (1 << Math.floor(random() * 8));
      else if (kind === 1) copy[Math.min(from, 64)] = Math.floor(random() * 256);
      else if (kind === 2) copy.fill(random() < 0.5 ? 0 : 255, from, Math.min(to, from + 16));
      else copy.copyWithin(from, to, Math.min(copy.length, to + 200));
    }
    return random() < 0.2 ? copy.subarray(0, at()) : copy;
  };

  test(`becomes a picture or is refused as unreadable: ${times} times, and nothing else happens`, async () => {
    const { transformImage } = await import("../../src/storage/image-engine.ts");
    const small = [];
    for (const { path } of sources) {
      const bytes = await bytesOf(path);
      if (bytes.length < 150_000) small.push(bytes);
    }
    let made = 0;
    let unreadable = 0;
    for (let seed = 0; seed < times; seed++) {
      const bytes = damage(small[seed % small.length] as Buffer, seed);
      const format = (["webp", "jpeg", "png"] as const)[seed % 3];
      await transformImage(bytes, { w: 50, f: format }, false).then(
        ({ type }) => {
          expect(type).toBe(`image/${format}`);
          made++;
        },
        (error) => {
          expect(error).toBeInstanceOf(UnreadableImage);
          unreadable++;
        },
      );
    }
    expect(made).toBeGreaterThan(50);
    expect(unreadable).toBeGreaterThan(50);
  }, 900_000);
});

/** Numbers from 0 to 1 that are the same on every run: a linear congruence, its low bits left out. */
function generator(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}
