/**
 * svc beside hand-written services: same server, same rows, same policies, taking turns. Used by `crud.ts` and `handlers.ts`.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import type { Cluster } from "../src/cluster/types.ts";
import { interleave, type Runner, reportBeside } from "./measure.ts";
import { type Contestant, contestant, inProduction, serverCpu } from "./process.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");

export interface Peer {
  name: string;
  process: Contestant;
}

export interface User {
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
export const filters = { done: true, priority: 6 };

async function call(svc: Contestant, name: string, args: unknown, token: string) {
  const response = await fetch(`${svc.url}/api/query`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ name, args }),
  });
  return (await response.json()) as { json: { total: number; data: { id: number }[] } };
}

/** What a benchmark measures with. */
export interface Contest {
  cluster: Cluster;
  svc: Contestant;
  /** In the order in which they were asked for. */
  peers: Peer[];
  users: User[];
  /** In MiB, of svc and of each peer, before their first request. */
  idle: number[];
  /** Requests of all users in turn, that send what `body` gives. */
  runner(name: string, process: Contestant, path: string, body: (user: User) => unknown): Runner;
  /** The same of svc, by the name of a procedure. */
  ours(path: string, name: string, args: (user: User) => unknown): Runner;
  /** The same of all peers. */
  theirs(path: string, args: (user: User) => unknown): Runner[];
  compare(title: string, runners: Runner[]): Promise<void>;
  /** A number that grows with each request. */
  turn(): number;
}

/** Starts svc and the peers, whose scripts are in bench/peers, and stops them. A token is valid for five minutes, so `work` must be shorter. */
export async function contest(
  scripts: readonly (readonly [string, string])[],
  work: (contest: Contest) => Promise<void>,
) {
  const application = join(here, "app");
  for (const command of ["codegen", "migrate"])
    execFileSync(process.execPath, [svcCommand, command, "--cwd", application], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(application, ".svc"), report: console.info });
  const env = { ...inProduction(cluster), PORT: "0", LOG_LEVEL: process.env.LOG_LEVEL ?? "info" };
  const svc = await contestant([svcCommand, "start", "--cwd", application], env);
  const idle = [svc.memory()]; // before the first password is hashed
  const peers: Peer[] = [];
  try {
    const users = await givenUsers(svc, cluster.urls.admin);
    for (const [name, file] of scripts) {
      const argv = [join(here, "peers", file), cluster.urls.request, `${svc.url}/api/auth/jwks`, svc.url];
      const peer = await contestant(argv, { NODE_ENV: "production" });
      peers.push({ name, process: peer });
      idle.push(peer.memory());
    }
    await checkIsolation(svc, users);
    let turn = 0;
    const runner: Contest["runner"] = (name, process, path, body) => ({
      ...{ name, process, path, headers: {} },
      next() {
        const user = users[turn++ % users.length] as User;
        return { headers: { authorization: `Bearer ${user.token}` }, body: JSON.stringify(body(user)) };
      },
    });
    await work({
      ...{ cluster, svc, peers, users, idle, runner },
      ours: (path, name, args) => runner("svc", svc, path, (user) => ({ name, args: args(user) })),
      theirs: (path, args) => peers.map((peer) => runner(peer.name, peer.process, path, args)),
      compare: async (title, runners) =>
        reportBeside(
          title,
          await interleave(runners, { databaseCpu: () => serverCpu(cluster), rounds: 4, seconds: 2 }),
        ),
      turn: () => turn++,
    });
  } finally {
    await removeCreated(cluster.urls.admin);
    await Promise.all([svc, ...peers.map(({ process }) => process)].map((one) => one.stop()));
    await cluster.stop();
  }
}

export async function removeCreated(adminUrl: string): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query("delete from items where title like 'new %'");
  await admin.end();
}
