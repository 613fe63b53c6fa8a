/**
 * The application, its database and its users for bench/lists.ts: made anew for every run and removed after it, so that
 * no earlier run's rows, bloat or migrations are measured. Next hop: `rows.ts` fills the tables.
 */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { clusterDirectory } from "../../src/cluster/places.ts";
import type { Cluster } from "../../src/cluster/types.ts";
import { type Contestant, contestant } from "../process.ts";

const app = join(import.meta.dirname, "../app");
const svcCommand = join(import.meta.dirname, "../../src/cli/svc.ts");

export interface User {
  name: string;
  id: string;
  /** Good for five minutes. */
  token: string;
}

export interface Setting {
  cluster: Cluster;
  svc: Contestant;
  admin: pg.Client;
  /** Signs up. */
  user(name: string): Promise<User>;
  /** Signs in again. */
  renew(users: User[]): Promise<void>;
  close(): Promise<void>;
}

export async function createSetting(): Promise<Setting> {
  const copy = join(app, ".svc/lists");
  const directory = join(copy, ".svc");
  const clean = () => {
    rmSync(clusterDirectory(directory, "postgres"), { recursive: true, force: true });
    rmSync(copy, { recursive: true, force: true });
  };
  clean();
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", app], { stdio: "ignore" });
  for (const part of ["backend", "migrations", "sql", "svc.config.ts"]) {
    cpSync(join(app, part), join(copy, part), { recursive: true });
  }

  const cluster = await openCluster({ directory, report: console.info });
  const svc = await contestant([svcCommand, "start", "--cwd", copy], { PORT: "0" });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  return {
    cluster,
    svc,
    admin,
    user: (name) => enter(svc, "sign-up", name),
    async renew(users) {
      for (const user of users) Object.assign(user, await enter(svc, "sign-in", user.name));
    },
    async close() {
      await admin.end();
      await svc.stop();
      await cluster.stop();
      clean();
    },
  };
}

async function enter(svc: Contestant, way: "sign-up" | "sign-in", name: string): Promise<User> {
  const response = await fetch(`${svc.url}/api/auth/${way}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: `${name}@example.com`, password: "correct horse battery", name }),
  });
  const { token, user } = (await response.json()) as { token: string; user: { id: string } };
  return { name, id: user.id, token };
}
