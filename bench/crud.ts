/**
 * Generated CRUD, handlers that use `ctx.db`, and a call without database, against what one would write by hand: Express + pg,
 * Express + Drizzle, Fastify + postgres.js, and node:http + pipelined pg as a limit. Same server, same rows, same policies, taking turns. Each line has the processor
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
import { type Contestant, contestant, inProduction, serverCpu } from "./process.ts";

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
  ["express + drizzle", "drizzle.ts"],
] as const;

export async function run(): Promise<void> {
  const application = join(here, "app");
  for (const command of ["codegen", "migrate"])
    execFileSync(process.execPath, [svcCommand, command, "--cwd", application], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(application, ".svc"), report: console.info });
  const env = { ...inProduction(cluster), PORT: "0", LOG_LEVEL: process.env.LOG_LEVEL ?? "info" };
  const svc = await contestant([svcCommand, "start", "--cwd", application], env);
  const bare = await contestant([join(here, "peers/bare-http.ts")]);
  const idle = [svc.memory()]; // before the first password is hashed
  const users = await givenUsers(svc, cluster.urls.admin);
  const peers: Peer[] = [];
  for (const [name, file] of handWritten) {
    const script = join(here, "peers", file);
    peers.push({
      name,
      process: await contestant([script, cluster.urls.request, `${svc.url}/api/auth/jwks`, svc.url], {
        NODE_ENV: "production",
      }),
    });
  }
  const [, , express] = peers;
  try {
    if (express) idle.push(express.process.memory());
    await checkIsolation(svc, users);
    await measure(svc, peers, bare, users, cluster);
    if (cluster.binDir) pgbench(cluster.binDir, cluster.urls.request, users[0]?.id ?? "");
    const [ours = 0, theirs = 1] = idle;
    console.info(
      `\nIdle memory: svc ${ours.toFixed(0)} MiB, peer ${theirs.toFixed(0)} MiB, ${(ours / theirs).toFixed(2)}x`,
    );
  } finally {
    await Promise.all([svc, bare, ...peers.map(({ process }) => process)].map((one) => one.stop()));
    await cluster.stop();
  }
}

interface User {
  id: string;
  token: string;
  /** Of rows of the user. */
  rows: number[];
}

/** Requests take turns between so many users: svc leaves half of the pool to others than the caller, and peers do not. */
const manyUsers = 4;

/** Signs up users, and gives 1,000 of the million rows to each. */
async function givenUsers(svc: Contestant, adminUrl: string): Promise<User[]> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query("delete from items where user_id not like 'user%'");
  const users: User[] = [];
  for (let number = 0; number < manyUsers; number++) {
    const { id, token } = await signUp(svc, `Bench ${number}`);
    const { rows } = await admin.query<{ id: number }>(
      `insert into items (user_id, title, done, priority, created_at)
       select $1, 'Item number ' || n, n % 3 = 0, n % 10, now() - n * interval '1 second' from generate_series(1, 1000) as n
       returning id`,
      [id],
    );
    users.push({ id, token, rows: rows.map((row) => row.id) });
  }
  await admin.query("vacuum analyze items");
  await admin.end();
  return users;
}

async function signUp(svc: Contestant, name: string): Promise<{ id: string; token: string }> {
  const email = `${name.replace(" ", "-")}-${Date.now()}@example.com`;
  const response = await fetch(`${svc.url}/api/auth/sign-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: "correct horse battery", name }),
  });
  const { token, user } = (await response.json()) as { token: string; user: { id: string } };
  return { token, id: user.id };
}

/** A benchmark of something insecure is worth nothing: another tenant sees no row of a user. */
async function checkIsolation(svc: Contestant, users: User[]): Promise<void> {
  const stranger = await signUp(svc, "Stranger");
  const theirs = await call(svc, "items.list", {}, stranger.token);
  for (const { token } of users) {
    const mine = await call(svc, "items.list", {}, token);
    const filtered = await call(svc, "items_1e6.list", { filters }, token);
    if (mine.json.total !== 1000 || filtered.json.total !== 34) throw new Error("the rows are not those expected");
  }
  if (theirs.json.total !== 0) throw new Error("isolation does not hold");
}

/** What 34 of each user's 1,000 rows have. */
const filters = { done: true, priority: 6 };

async function call(svc: Contestant, name: string, args: unknown, token: string) {
  const response = await fetch(`${svc.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name, args }),
  });
  return (await response.json()) as { json: { total: number; data: { id: number }[] } };
}

async function measure(svc: Contestant, peers: Peer[], bare: Contestant, users: User[], cluster: Cluster) {
  let turn = 0;
  const runner = (name: string, process: Contestant, path: string, body: (user: User) => unknown): Runner => ({
    ...{ name, process, path, headers: {} },
    next() {
      const user = users[turn++ % users.length] as User;
      return { headers: { authorization: `Bearer ${user.token}` }, body: JSON.stringify(body(user)) };
    },
  });
  const ours = (path: string, name: string, args: (user: User) => unknown) =>
    runner("svc", svc, path, (user) => ({ name, args: args(user) }));
  const theirs = (path: string, args: (user: User) => unknown) =>
    peers.map((peer) => runner(peer.name, peer.process, path, args));

  const databaseCpu = () => serverCpu(cluster);
  const compare = async (title: string, runners: Runner[]) =>
    reportBeside(title, await interleave(runners, { databaseCpu, rounds: 4, seconds: 2 }));
  const byId = ({ rows }: User) => ({ id: rows[turn % rows.length] });
  await compare("get", [ours("/api/query", "items.get", byId), ...theirs("/get", byId)]);
  await compare("list of 20", [ours("/api/query", "items.list", () => ({})), ...theirs("/list", () => ({}))]);
  const filtered = () => ({ filters });
  const list = ours("/api/query", "items_1e6.list", filtered);
  await compare("the same, filtered: 34 of 1,000 rows", [list, ...theirs("/list", filtered)]);
  const title = () => ({ title: `new ${turn++}` });
  await compare("create", [ours("/api/mutation", "items.create", title), ...theirs("/create", title)]);
  await compare("get by a handler", [ours("/api/query", "itemById", byId), ...theirs("/get", byId)]);
  await compare("list of 20 by a handler", [
    ours("/api/query", "latestItems", () => ({})),
    ...theirs("/list", () => ({})),
  ]);
  await compare("create by a handler", [ours("/api/mutation", "addItem", title), ...theirs("/create", title)]);
  await removeCreated(cluster.urls.admin);

  const [, fastify, , drizzle] = peers;
  const route = ({ name, process }: Peer) => ({
    ...{ name, process, path: "/hello/world" },
    headers: { authorization: `Bearer ${users[0]?.token}` },
  });
  const routers = [{ name: "svc", process: svc }, fastify, drizzle].filter((one) => one !== undefined);
  reportBeside(
    "a route without database",
    await interleave(routers.map(route), { databaseCpu, rounds: 4, seconds: 2 }),
  );

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
