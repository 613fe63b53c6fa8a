/**
 * Generated CRUD and a call without database, against what one would write by hand: Express + pg, Fastify + postgres.js,
 * and node:http + pipelined pg as a limit. Same server, same rows, same policies, taking turns. Each line has the processor
 * time of a call in Node and in PostgreSQL. pgbench runs the very statement of `get` and `list` to show what the database
 * alone could do.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import type { Cluster } from "../src/cluster/types.ts";
import { callText } from "../src/crud/statement.ts";
import { interleave, type Runner, report, reportBeside } from "./measure.ts";
import { type Contestant, contestant, serverCpu } from "./process.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");

interface Peer {
  name: string;
  process: Contestant;
}

const handWritten = [
  ["node:http + pg", "bare-pg.ts"],
  ["fastify", "fastify.ts"],
  ["express + pg", "express.ts"],
] as const;

export async function run(): Promise<void> {
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", join(here, "app")], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const env = { PORT: "0", LOG_LEVEL: process.env.LOG_LEVEL ?? "info" };
  const svc = await contestant([svcCommand, "start", "--cwd", join(here, "app")], env);
  const bare = await contestant([join(here, "peers/bare-http.ts")]);
  const idle = [svc.memory()]; // before the first password is hashed
  const { token, userId } = await givenUser(svc, cluster.urls.admin);
  const peers: Peer[] = [];
  for (const [name, file] of handWritten) {
    const script = join(here, "peers", file);
    peers.push({
      name,
      process: await contestant([script, cluster.urls.request, `${svc.url}/api/auth/jwks`, svc.url]),
    });
  }
  const [, , express] = peers;
  try {
    if (express) idle.push(express.process.memory());
    await checkIsolation(svc, token);
    await measure(svc, peers, bare, token, cluster);
    if (cluster.binDir) pgbench(cluster.binDir, cluster.urls.request, userId);
    const [ours = 0, theirs = 1] = idle;
    console.info(
      `\nIdle memory: svc ${ours.toFixed(0)} MiB, peer ${theirs.toFixed(0)} MiB, ${(ours / theirs).toFixed(2)}x`,
    );
  } finally {
    await Promise.all([svc, bare, ...peers.map(({ process }) => process)].map((one) => one.stop()));
    await cluster.stop();
  }
}

/** Signs up a user and gives it the rows of user1: 1,000 of the million. */
async function givenUser(svc: Contestant, adminUrl: string) {
  const email = `bench-${Date.now()}@example.com`;
  const response = await fetch(`${svc.url}/api/auth/sign-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: "correct horse battery", name: "Bench" }),
  });
  const { token, user } = (await response.json()) as { token: string; user: { id: string } };
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query("delete from items where user_id not like 'user%'");
  await admin.query(
    `insert into items (user_id, title, done, priority, created_at)
     select $1, title, done, priority, created_at from items where user_id = 'user1'`,
    [user.id],
  );
  await admin.query("vacuum analyze items");
  await admin.end();
  return { token, userId: user.id };
}

/** A benchmark of something insecure is worth nothing: a second tenant sees no row of the first. */
async function checkIsolation(svc: Contestant, token: string): Promise<void> {
  const mine = await call(svc, "items.list", {}, token);
  const other = await fetch(`${svc.url}/api/auth/sign-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      email: `other-${Date.now()}@example.com`,
      password: "correct horse battery",
      name: "Other",
    }),
  });
  const theirs = await call(svc, "items.list", {}, ((await other.json()) as { token: string }).token);
  if (mine.json.total < 1000 || theirs.json.total !== 0) throw new Error("isolation does not hold");
}

async function call(svc: Contestant, name: string, args: unknown, token: string) {
  const response = await fetch(`${svc.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name, args }),
  });
  return (await response.json()) as { json: { total: number; data: { id: number }[] } };
}

async function measure(svc: Contestant, peers: Peer[], bare: Contestant, token: string, cluster: Cluster) {
  const headers = { authorization: `Bearer ${token}` };
  const { json } = await call(svc, "items.list", { limit: 100 }, token);
  let turn = 0;
  const id = () => json.data[turn++ % json.data.length]?.id;
  const ours = (path: string, name: string, args: () => unknown) => ({
    name: "svc",
    process: svc,
    path,
    headers,
    body: () => JSON.stringify({ name, args: args() }),
  });
  const theirs = (path: string, args: () => unknown) =>
    peers.map((peer) => ({ ...peer, path, headers, body: () => JSON.stringify(args()) }));

  const databaseCpu = () => serverCpu(cluster);
  const compare = async (title: string, runners: Runner[]) =>
    reportBeside(title, await interleave(runners, { databaseCpu }));
  const byId = () => ({ id: id() });
  await compare("get", [ours("/api/query", "items.get", byId), ...theirs("/get", byId)]);
  await compare("list of 20", [ours("/api/query", "items.list", () => ({})), ...theirs("/list", () => ({}))]);
  const filtered = () => ({ filters: { done: true, priority: 6 } });
  const list = ours("/api/query", "items_1e6.list", filtered);
  await compare("the same, filtered: 34 of 1,000 rows", [list, ...theirs("/list", filtered)]);
  const title = () => ({ title: `new ${turn++}` });
  await compare("create", [ours("/api/mutation", "items.create", title), ...theirs("/create", title)]);
  await removeCreated(cluster.urls.admin);

  const text = () => ({ text: "hello" });
  const limit = { ...ours("/", "echo", text), name: "node:http", process: bare };
  const echo = await interleave([ours("/api/query", "echo", text), limit]);
  report("echo, without database", echo);
  const [procedure, request] = echo;
  if (procedure && request) {
    const overhead = (procedure.cpu - request.cpu) / request.cpu;
    console.info(`  overhead of a procedure: ${overhead.toFixed(2)}x of a bare request's CPU`);
  }
}

async function removeCreated(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query("delete from items where title like 'new %'");
  await admin.end();
}

/** The identical statements, without Node in between. */
function pgbench(binDir: string, url: string, userId: string): void {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const statement = (name: string, argument: string) =>
    `${callText(name, 1).replace("$1", `'${userId}'`).replace("$2", "'svc_authenticated'").replace("$3", argument)};\n`;
  console.info("\npgbench, the same statements, 4 connections");
  for (const [name, argument] of [
    ["items_get", "1"],
    ["items_list", "'{}'"],
  ] as const) {
    const file = join(folder, `${name}.sql`);
    writeFileSync(file, statement(name, argument));
    const output = execFileSync(
      join(binDir, "pgbench"),
      ["-n", "-M", "prepared", "-f", file, "-T", "5", "-c", "4", url],
      {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      },
    );
    console.info(`  ${name.padEnd(16)} ${/tps = (\d+)/.exec(output)?.[1]?.padStart(7)}/s`);
  }
}
