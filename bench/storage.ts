/**
 * Stored files: pictures made for the first time, over sharp alone and ipx; the same picture again, over bare node:http with
 * the same buffer and over one statement per request; a large download, over a bare file stream; a large upload's memory;
 * bombs; and what a call without pictures takes meanwhile.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { alternate, interleave, median, report } from "./measure.ts";
import { bombs, photo } from "./pictures.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const mebibyte = 1024 * 1024;
const downloadBytes = 100 * mebibyte;

interface Contest {
  svc: Contestant;
  ipx: Contestant;
  bare: Contestant;
  select: Contestant;
  folder: string;
  token: string;
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  writeFileSync(join(folder, "small.jpg"), await photo(1_600, 1_200));
  writeFileSync(join(folder, "large.jpg"), await photo(4_000, 3_000));
  writeFileSync(join(folder, "file.bin"), randomBytes(downloadBytes));
  const env = { PORT: "0", LOG_LEVEL: "warn" };
  const peer = (name: string, ...more: string[]) => contestant([join(here, `peers/${name}.ts`), ...more]);
  const svc = await contestant([join(here, "../src/cli/svc.ts"), "start", "--cwd", join(here, "app")], env);
  const [bare, ipx] = await Promise.all([peer("bare-images", folder), peer("ipx", folder)]);
  const cached = Number((await fetch(`${bare.url}/buffer`, { method: "HEAD" })).headers.get("content-length"));
  const select = await peer("one-select", cluster.urls.admin, String(cached));
  try {
    await compare({ svc, ipx, bare, select, folder, token: await signUp(svc) });
  } finally {
    await Promise.all([svc, bare, ipx, select].map((contestant) => contestant.stop()));
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(contest: Contest): Promise<void> {
  const { svc, bare, select, folder } = contest;
  const before = svc.memory();
  const download = await store(contest, readFileSync(join(folder, "file.bin")), "application/octet-stream");
  console.info(`\nmemory of the service over an upload of 100 MiB: +${(svc.memory() - before).toFixed(0)} MiB`);

  await made(contest, "small", "1,600 by 1,200", 60);
  const image = await made(contest, "large", "4,000 by 3,000", 20);

  const cached = `${image}?w=200&f=webp`;
  const again = (name: string, process: Contestant, path: string) => ({ name, process, path, headers: {} });
  const runners = [
    again("svc", svc, cached),
    again("one select", select, "/"),
    again("bare node:http", bare, "/buffer"),
  ];
  for (const connections of [16, 64]) {
    report(`a picture again, ${connections} connections`, await interleave(runners, { connections }));
  }

  const [ours = 0, theirs = 0] = await alternate(
    [() => get(`${svc.url}${download}`), () => get(`${bare.url}/file`)],
    9,
  );
  console.info(`\n100 MiB down: ${(theirs / ours).toFixed(2)}x of a bare stream's speed`);
  await refuse(contest);
  await latency(contest, image);
}

/** Pictures of a width that was never asked for, by four clients. @returns the picture's path */
async function made(contest: Contest, file: "small" | "large", size: string, amount: number): Promise<string> {
  const { svc, ipx, bare, folder } = contest;
  const path = await store(contest, readFileSync(join(folder, `${file}.jpg`)), "image/jpeg");
  let width = 100;
  const rivals: [string, Contestant, () => string][] = [
    ["svc", svc, () => `${path}?w=${++width}&f=webp`],
    ["ipx", ipx, () => `/w_${++width},f_webp/${file}.jpg`],
    ["sharp over http", bare, () => `/resize/${file}?w=${++width}`],
  ];
  const taken = rivals.map(() => ({ rates: [] as number[], cpu: [] as number[] }));
  for (let round = -1; round < 7; round++) {
    width = 100 + (round + 1) * amount; // the same widths for all
    for (const [index, [, process, next]] of rivals.entries()) {
      const first = width;
      const [cpu, start] = [process.cpu(), performance.now()];
      let left = amount;
      const client = async () => {
        while (left-- > 0) await get(`${process.url}${next()}`);
      };
      await Promise.all(Array.from({ length: 4 }, client));
      width = first;
      if (round < 0) continue; // warm up
      taken[index]?.rates.push((amount / (performance.now() - start)) * 1000);
      taken[index]?.cpu.push((process.cpu() - cpu) / amount / 1000);
    }
  }
  const limit = taken.at(-1);
  console.info(`\na picture of ${size} made small`);
  for (const [index, { rates, cpu }] of taken.entries()) {
    console.info(
      `  ${rivals[index]?.[0].padEnd(16)} ${median(rates).toFixed(0).padStart(5)}/s  ` +
        `${(median(rates) / median(limit?.rates ?? [])).toFixed(2)}x   CPU ${median(cpu).toFixed(1).padStart(5)} ms  ` +
        `${(median(cpu) / median(limit?.cpu ?? [])).toFixed(2)}x`,
    );
  }
  return path;
}

async function refuse(contest: Contest): Promise<void> {
  const { svc } = contest;
  for (const { name, type, bytes } of await bombs()) {
    const path = await store(contest, bytes, type);
    const before = svc.memory();
    const started = performance.now();
    const { status } = await fetch(`${svc.url}${path}?w=100`);
    const ms = performance.now() - started;
    const memory = Math.max(0, svc.memory() - before);
    console.info(
      `${name} in ${Math.ceil(bytes.length / 1024)} KiB: ${status} after ${ms.toFixed(0)} ms, memory +${memory.toFixed(0)} MiB`,
    );
  }
}

/** Calls without pictures, alone and while eight clients ask for new pictures. */
async function latency({ svc, token }: Contest, image: string): Promise<void> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const body = JSON.stringify({ name: "items.list", args: { limit: 20 } });
  const call = async () => {
    const started = performance.now();
    const response = await fetch(`${svc.url}/api/query`, { method: "POST", headers, body });
    if (response.status !== 200) throw new Error(`items.list: ${response.status}`);
    await response.text();
    return performance.now() - started;
  };
  const sample = async () => {
    const taken: number[] = [];
    for (let count = 0; count < 400; count++) taken.push(await call());
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
  const at = (all: number[], part: number) => all[Math.floor(all.length * part)] ?? Number.NaN;
  for (const part of [0.5, 0.95]) {
    const [alone, meanwhile] = [at(idle, part), at(busy, part)];
    console.info(
      `a list while pictures are made, p${part * 100}: ${meanwhile.toFixed(2)} ms, ${(meanwhile / alone).toFixed(2)}x of idle`,
    );
  }
}

const get = async (url: string): Promise<number> => {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  let size = 0;
  for await (const chunk of response.body ?? []) size += chunk.length;
  return size;
};

async function signUp(svc: Contestant): Promise<string> {
  const body = JSON.stringify({ email: `bench-${Date.now()}@example.com`, password: "correct horse", name: "Bench" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${svc.url}/api/auth/sign-up`, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`sign-up: ${response.status}`);
  return ((await response.json()) as { token: string }).token;
}

/** Makes a public object. @returns its path */
async function store({ svc, token }: Contest, bytes: Buffer, type: string): Promise<string> {
  const form = new FormData();
  const call = { name: "storeFile", args: { file: null } };
  form.append("data", JSON.stringify({ json: call, meta: [], maps: [["args", "file"]] }));
  form.append("0", new Blob([new Uint8Array(bytes)], { type }), "file");
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${svc.url}/api/mutation`, { method: "POST", headers, body: form });
  if (response.status !== 200) throw new Error(`storing: ${response.status} ${await response.text()}`);
  return `/api/storage/${((await response.json()) as { json: string }).json}`;
}
