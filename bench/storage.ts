/**
 * Stored files: pictures made for the first time, over a bare loop of sharp; the same picture again, over bare node:http with
 * the same buffer; a large download, over a bare file stream; a large upload's memory; bombs; and what a call without
 * pictures takes meanwhile.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { openCluster } from "../src/postgres/cluster.ts";
import { alternate, interleave, median, report } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const mebibyte = 1024 * 1024;
const downloadBytes = 100 * mebibyte;

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const picture = join(folder, "picture.jpg");
  const large = join(folder, "large.bin");
  writeFileSync(picture, await photo());
  writeFileSync(large, randomBytes(downloadBytes));
  const env = { PORT: "0", LOG_LEVEL: "warn" };
  const svc = await contestant([join(here, "../src/cli/svc.ts"), "start", "--cwd", join(here, "app")], env);
  const bare = await contestant([join(here, "peers/bare-images.ts"), picture, large]);
  try {
    await compare(svc, bare, picture, large);
  } finally {
    await Promise.all([svc.stop(), bare.stop()]);
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(svc: Contestant, bare: Contestant, picture: string, large: string): Promise<void> {
  const token = await signUp(svc);
  const image = await store(svc, token, readFileSync(picture), "image/jpeg");
  const before = svc.memory();
  const download = await store(svc, token, readFileSync(large), "application/octet-stream");
  console.info(`\nmemory of the service over an upload of 100 MiB: +${(svc.memory() - before).toFixed(0)} MiB`);

  let width = 100;
  const made = await alternate(
    [() => get(`${svc.url}${image}?w=${++width}&f=webp`), () => get(`${bare.url}/resize?w=${width}`)],
    100,
  );
  print("a picture made", made);
  const buffer = `${image}?w=200&f=webp`;
  const again = (name: string, process: Contestant, path: string) => ({ name, process, path, headers: {} });
  report("the same again", await interleave([again("svc", svc, buffer), again("bare node:http", bare, "/buffer")]));
  print("100 MiB down", await alternate([() => get(`${svc.url}${download}`), () => get(`${bare.url}/file`)], 7));
  await bombs(svc, token);
  await latency(svc, image);
}

async function bombs(svc: Contestant, token: string): Promise<void> {
  const white = { channels: 3, background: "#fff" } as const;
  const bomb = await sharp({ create: { width: 17_000, height: 17_000, ...white }, limitInputPixels: false })
    .png({ compressionLevel: 9 })
    .toBuffer();
  const path = await store(svc, token, bomb, "image/png");
  const before = svc.memory();
  const started = performance.now();
  const { status } = await fetch(`${svc.url}${path}?w=100`);
  const ms = performance.now() - started;
  console.info(
    `17,000 by 17,000:  ${status} after ${ms.toFixed(0)} ms, memory +${Math.max(0, svc.memory() - before).toFixed(0)} MiB`,
  );
}

/** Calls without pictures, alone and while eight clients ask for new pictures. */
async function latency(svc: Contestant, image: string): Promise<void> {
  const call = async () => {
    const started = performance.now();
    await get(`${svc.url}/healthz`);
    return performance.now() - started;
  };
  const sample = async () => {
    const taken: number[] = [];
    for (let count = 0; count < 300; count++) taken.push(await call());
    return taken.sort((a, b) => a - b);
  };
  await sample();
  const idle = await sample();
  let width = 1_000;
  let done = false;
  const clients = Array.from({ length: 8 }, async () => {
    while (!done) await get(`${svc.url}${image}?w=${++width}&f=webp`);
  });
  const busy = await sample();
  done = true;
  await Promise.all(clients);
  const show = (all: number[]) =>
    `p50 ${median(all).toFixed(2)} ms, p95 ${all[Math.floor(all.length * 0.95)]?.toFixed(2)} ms`;
  console.info(`a call meanwhile:  ${show(busy)}; alone ${show(idle)}`);
}

const get = async (url: string): Promise<number> => {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  let size = 0;
  for await (const chunk of response.body ?? []) size += chunk.length;
  return size;
};

function print(title: string, [ours = Number.NaN, theirs = Number.NaN]: number[]): void {
  console.info(
    `${`${title}:`.padEnd(18)} ${(theirs / ours).toFixed(2)}x of the bare peer's speed   ` +
      `(${ours.toFixed(2)} ms, ${theirs.toFixed(2)} ms)`,
  );
}

/** Noise over a gradient, as large as a telephone's picture reduced for the web. */
function photo(): Promise<Buffer> {
  const noise = { type: "gaussian", mean: 128, sigma: 30 } as const;
  return sharp({ create: { width: 1_600, height: 1_200, channels: 3, background: "#808080", noise } })
    .blur(2)
    .jpeg({ quality: 85 })
    .toBuffer();
}

async function signUp(svc: Contestant): Promise<string> {
  const body = JSON.stringify({ email: `bench-${Date.now()}@example.com`, password: "correct horse", name: "Bench" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${svc.url}/api/auth/sign-up`, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`sign-up: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

/** Makes a public object. @returns its path */
async function store(svc: Contestant, token: string, bytes: Buffer, type: string): Promise<string> {
  const form = new FormData();
  const call = { name: "storeFile", args: { file: null } };
  form.append("data", JSON.stringify({ json: call, meta: [], maps: [["args", "file"]] }));
  form.append("0", new Blob([new Uint8Array(bytes)], { type }), "file");
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${svc.url}/api/mutation`, { method: "POST", headers, body: form });
  if (response.status !== 200) throw new Error(`storing: ${response.status} ${await response.text()}`);
  return `/api/storage/${((await response.json()) as { json: string }).json}`;
}
