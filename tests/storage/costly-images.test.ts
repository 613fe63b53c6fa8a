/**
 * If this file fails, the URL of an image can stop the service: with the parameters that take an encoder longest, or
 * with a file that takes a decoder long. The images are noise, which is the hardest to encode. The tests count killed
 * processes and processor time, not clock time.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startConfined } from "../../src/kit/confined-process.ts";
import { programFiles } from "../../src/kit/program-files.ts";
import { encodingOf } from "../../src/storage/encoding.ts";
import { ImageChildren, ImageTooCostly } from "../../src/storage/image-children.ts";
import { formats, type TransformOptions } from "../../src/storage/transform-options.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";

const dir = bytesFolder();
const svc = service(database(), apiWith({ procedures: fileProcedures }), { storage: { driver: "disk", dir } });
let ann: User;
let noise: Buffer;
let small: Buffer;

const patient = 300_000; // for a machine that does much else

/** Linux has them. */
const ownChildren = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);

const noisy = (side: number) =>
  sharp({
    create: {
      width: side,
      height: side,
      channels: 3,
      background: "#808080",
      noise: { type: "gaussian", mean: 128, sigma: 60 },
    },
  })
    .jpeg({ quality: 90 })
    .toBuffer();

beforeAll(async () => {
  ann = await svc.signUp("ann");
  [noise, small] = await Promise.all([noisy(2_500), noisy(200)]);
});

describe("each format with the parameters that take it longest", () => {
  const children = new ImageChildren();
  afterAll(() => children.close());

  test.each(formats)(
    "%s of 4096 by 4096 at quality 100 is made, in the size that was asked for",
    { timeout: patient },
    async (f) => {
      const { bytes } = await children.transform(noise, { w: 4096, h: 4096, f, q: 100 }, false);
      const { width, height } = await sharp(bytes).metadata();
      expect([width, height, children.killed]).toEqual([4096, 4096, 0]);
    },
  );

  test("a PNG of a size at which colours are still chosen", { timeout: patient }, async () => {
    const { bytes } = await children.transform(noise, { w: 2000, h: 2000, f: "png", q: 1 }, false);
    // The colour type of a PNG with a palette.
    expect([bytes[25], children.killed]).toEqual([3, 0]);
  });

  test("what is more than an AVIF may have is refused before it is decoded, and says what to do", async () => {
    const large = await sharp({ create: { width: 6000, height: 4000, channels: 3, background: "#fff" } })
      .jpeg()
      .toBuffer();
    await expect(children.transform(large, { f: "avif" }, false)).rejects.toThrow(
      "It would have 24.0 megapixels; the limit is 16.7 for AVIF, 40 with f=webp. Use a smaller w or h.",
    );
  });
});

test("beyond some size each encoder hurries, and none of them gets slower with size", () => {
  const sizes = [1, 250_000, 250_001, 1_000_000, 1_000_001, 4_000_000, 4_000_001, 16_777_216, 40_000_000];
  for (const format of formats) {
    const efforts = sizes.map((pixels) => encodingOf(format, 100, pixels).options);
    for (const [index, { effort = 0, quality = 0 }] of efforts.entries()) {
      const before = efforts[index - 1] ?? { effort: 10, quality: 100 };
      expect(effort).toBeLessThanOrEqual(before.effort ?? 0);
      expect(quality).toBeLessThanOrEqual(before.quality ?? 0);
    }
  }
  const small = formats.map((format) => encodingOf(format, 100, 250_000).options.quality);
  expect(small).toEqual([100, 100, 100, 100]);
});

test("a busy machine is not the image's fault: it is asked for again later", { timeout: patient }, async () => {
  // Its process gets no tenth of the processor time that an image may take.
  const children = new ImageChildren({ timeMs: 300 });
  const asked = children.transform(noise, { w: 4096, h: 4096, f: "avif", q: 100 }, false);
  await expect(asked).rejects.toMatchObject({ code: "UNAVAILABLE", retryAfter: 30 });
  expect(children.killed).toBe(1);
  children.close();
});

describe("a picture that takes too much", () => {
  const worst: TransformOptions = { w: 4096, h: 4096, f: "avif", q: 100 };

  test.each([
    ["of a processor", { processorMs: 100 }],
    ["memory", { memoryBytes: 150 * 1024 * 1024 }],
  ])(
    "%s is ended with its process, and the next one is made by another",
    { timeout: patient },
    async (_what, limits) => {
      const children = new ImageChildren(limits);
      try {
        await expect(children.transform(noise, worst, false)).rejects.toBeInstanceOf(ImageTooCostly);
        expect([children.started, children.killed]).toEqual([1, 1]);
        const able = new ImageChildren();
        expect((await able.transform(small, { w: 10 }, false)).type).toBe("image/jpeg");
        able.close();
      } finally {
        children.close();
      }
    },
  );

  // A healthy picture was answered with 400 for as long as proxies keep such an answer.
  test("memory of the machine, so that the kernel kills its process, is made once more", {
    timeout: patient,
  }, async () => {
    const children = new ImageChildren();
    const killed = ownChildren();
    const killNext = () =>
      until(() => {
        const pid = ownChildren().find((one) => !killed.includes(one));
        if (pid === undefined) return false;
        killed.push(pid);
        return process.kill(pid, "SIGKILL");
      });
    const made = children.transform(noise, worst, false);
    await killNext();
    expect((await made).type).toBe("image/avif");
    expect([children.started, children.killed]).toEqual([2, 0]);
    const refused = expect(children.transform(noise, worst, false)).rejects.toBeInstanceOf(ImageTooCostly);
    await killNext();
    await killNext();
    await refused;
    children.close();
  });

  test("leaves no process behind, and one process makes many pictures", async () => {
    const children = new ImageChildren();
    for (let w = 1; w <= 20; w++) await children.transform(small, { w }, false);
    await expect(children.transform(Buffer.from("no picture"), { w: 1 }, false)).rejects.toThrow("cannot be read");
    await children.transform(small, { w: 30 }, false);
    expect([children.started, children.killed]).toEqual([1, 0]);
    children.close();
  });
});

test("a stranger's worst request is answered, with a small picture beside it; who leaves has nothing made", {
  timeout: patient,
}, async () => {
  const file = (bytes: Buffer) => new File([new Uint8Array(bytes)], "a.jpg", { type: "image/jpeg" });
  const [large, thumbnail] = await Promise.all(
    [noise, small].map((bytes) => stored(svc, ann, file(bytes), { visibility: "public" })),
  );
  const url = `${svc.url}/api/storage/${large}?w=4096&f=avif&q=100`;
  const worst = fetch(`${url}&h=4096`);
  const left = new AbortController();
  const others = Array.from({ length: 10 }, (_, index) =>
    fetch(`${url}&h=${4000 + index}`, { signal: left.signal }).then(
      () => "answered",
      () => "left",
    ),
  );
  const beside = await fetch(`${svc.url}/api/storage/${thumbnail}?w=20`);
  expect([beside.status, (await beside.arrayBuffer()).byteLength > 0]).toEqual([200, true]);
  left.abort();
  expect(new Set(await Promise.all(others))).toEqual(new Set(["left"]));
  const answer = await worst;
  expect(answer.status).toBe(200);
  const { width, height } = await sharp(Buffer.from(await answer.arrayBuffer())).metadata();
  expect([width, height]).toEqual([4096, 4096]);
});

describe("while packages are being installed", () => {
  test("an image is not called unreadable, and is made afterwards", { timeout: patient }, async () => {
    const children = new ImageChildren();
    onTestFinished(() => children.close());
    const { execPath } = process;
    process.execPath = join(root, "no-such-node");
    try {
      const refused = { code: "UNAVAILABLE", status: 503, retryAfter: 5 };
      await expect(children.transform(small, { w: 10 }, false)).rejects.toMatchObject(refused);
    } finally {
      process.execPath = execPath;
    }
    expect((await children.transform(small, { w: 10 }, false)).type).toBe("image/jpeg");
  });

  test("a process that cannot start does not keep later ones from the files that are there then", async () => {
    // All images were refused until the service was started again.
    const name = "svc-installed-later";
    const folder = join(root, "node_modules", name);
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const start = () => once(startConfined("no-such-program", [name], []), "close");
    await start();
    await mkdir(folder);
    await writeFile(join(folder, "package.json"), "{}");
    await start();
    expect(programFiles([name]).join()).toContain(name);
  });
});
