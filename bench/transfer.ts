/**
 * Files of rows: an export beside psql's COPY of the same rows, an import beside psql's COPY into a table with the same
 * policies and indexes, and the most memory that the service takes for either. `--rows N` says how many. (Default: 100,000)
 */
import { spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const given = process.argv.indexOf("--rows");
const rows = given < 0 ? 100_000 : Number(process.argv[given + 1]);

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  const svc = await contestant(
    [join(here, "../src/cli/svc.ts"), "start", "--with-worker", "--cwd", join(here, "app")],
    {
      PORT: "0",
      LOG_LEVEL: "warn",
      // As the images and units start it (docs/how-to/deploy.md).
      NODE_OPTIONS: "--max-semi-space-size=8",
    },
  );
  try {
    await compare(svc, admin, cluster.urls.admin, folder);
  } finally {
    await svc.stop();
    await admin.query("drop table if exists public.copied_items").catch(() => {});
    await admin.end();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(svc: Contestant, admin: pg.Client, url: string, folder: string): Promise<void> {
  const { id: user, token } = await signUp(svc);
  const headers = { authorization: `Bearer ${token}` };
  const file = join(folder, "items.csv");
  const lines = Array.from({ length: rows }, (_, at) => `item number ${at},${at % 2 === 0}\n`);
  writeFileSync(file, `title,done\n${lines.join("")}`);
  await admin.query("create table public.copied_items (like public.items including all)");
  await admin.query(`alter table public.copied_items alter user_id set default '${user}'`);

  const storageId = await store(svc, headers, readFileSync(file));
  const run = await call<{ id: string }>(svc, headers, "mutation", "items.import", { storageId, format: "csv" });
  const imported = await measured(svc, async () => {
    for (;;) {
      const { rows: found } = await admin.query("select status, error from svc.workflow_runs where id = $1", [run.id]);
      if (found[0].status === "completed") return;
      if (found[0].status === "failed") throw new Error(JSON.stringify(found[0].error));
      await sleep(50);
    }
  });
  const copiedIn = await seconds(() =>
    psql(url, `\\copy public.copied_items (title, done) from '${file}' csv header`, folder),
  );
  tell("import", imported, copiedIn);

  const exported = await measured(svc, async () => {
    const response = await fetch(`${svc.url}/api/export/items.csv`, { headers });
    let bytes = 0;
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    if (response.status !== 200 || bytes < rows * 20)
      throw new Error(`an export of ${bytes} bytes: ${response.status}`);
  });
  const order = "order by created_at desc, id desc";
  const copiedOut = await seconds(() =>
    psql(url, `\\copy (select * from public.copied_items ${order}) to stdout csv header`, folder),
  );
  tell("export", exported, copiedOut);
}

const perSecond = (taken: number) => `${Math.round(rows / taken).toLocaleString("en")} rows/s`;

function tell(what: string, { taken, grown }: Measured, copied: number): void {
  console.info(
    `\n${what} of ${rows.toLocaleString("en")} rows: ${perSecond(taken)}, memory +${grown[0].toFixed(0)} MiB in its first half, +${grown[1].toFixed(0)} MiB in its second; ` +
      `psql's COPY ${perSecond(copied)}, ${(taken / copied).toFixed(1)}x as fast`,
  );
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

interface Measured {
  taken: number;
  /** In MiB: by how much the service's memory was higher at its highest, in the first half and in the second. */
  grown: [number, number];
}

async function measured(svc: Contestant, work: () => Promise<unknown>): Promise<Measured> {
  const before = svc.memory();
  const samples: number[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      samples.push(svc.memory());
      await sleep(50);
    }
  })();
  const taken = await seconds(work);
  isOver = true;
  await looking;
  const half = Math.ceil(samples.length / 2);
  const highest = (some: number[]) => Math.max(before, ...some) - before;
  return { taken, grown: [highest(samples.slice(0, half)), highest(samples.slice(half))] };
}

/** Its output goes to a file: a pipe would make it wait for this process. */
function psql(url: string, command: string, folder: string): Promise<void> {
  const output = openSync(join(folder, "copied"), "w");
  const child = spawn("psql", ["--dbname", url, "--no-psqlrc", "--quiet", "--command", command], {
    stdio: ["ignore", output, "inherit"],
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`psql exited with ${code}`))));
  });
}

async function signUp(svc: Contestant): Promise<{ id: string; token: string }> {
  const body = JSON.stringify({ email: `bench-${Date.now()}@example.com`, password: "correct horse", name: "Bench" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${svc.url}/api/auth/sign-up`, { method: "POST", headers, body });
  const { user, token } = (await response.json()) as { user: { id: string }; token: string };
  return { id: user.id, token };
}

async function store(svc: Contestant, headers: Record<string, string>, bytes: Buffer): Promise<string> {
  const form = new FormData();
  const stored = { name: "storeFile", args: { file: null } };
  form.append("data", JSON.stringify({ json: stored, meta: [], maps: [["args", "file"]] }));
  form.append("0", new Blob([new Uint8Array(bytes)], { type: "text/csv" }), "items.csv");
  return answerOf(await fetch(`${svc.url}/api/mutation`, { method: "POST", headers, body: form }));
}

async function call<T>(
  svc: Contestant,
  headers: Record<string, string>,
  kind: string,
  name: string,
  args: object,
): Promise<T> {
  const body = JSON.stringify({ name, args });
  const typed = { ...headers, "content-type": "application/json" };
  return answerOf<T>(await fetch(`${svc.url}/api/${kind}`, { method: "POST", headers: typed, body }));
}

async function answerOf<T>(response: Response): Promise<T> {
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { json: T }).json;
}
