/**
 * The life of a private cluster among several processes. One process owns the server: it started it, or found it
 * running after its owner was killed. Others (`svc migrate` beside `svc dev`) join. Every change happens under a lock.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../cluster.ts";
import { type Choice, resolveTree, type Tree } from "./binaries.ts";
import { ClusterError } from "./error.ts";
import { type Holder, isAlive, myself, withLock } from "./lock.ts";
import { type Access, ensureLogins, loginUrl, newAccess, readAccess, writeAccess } from "./logins.ts";
import { clusterDirectory, serverUser, treeDirectory } from "./places.ts";
import type { Postmaster } from "./postmaster.ts";
import * as server from "./server.ts";

export interface PrivateOptions {
  directory: string;
  name: string;
  settings: Record<string, string>;
  choice: Choice;
  report: (line: string) => void;
}

/** One opening of a cluster: a process may hold several. */
interface User extends Holder {
  id: string;
}

/** running.json: what a joining process must know of a server that it has not started. */
interface Running {
  postmaster: number;
  owner: User;
  users: User[];
  tree: Tree;
}

export async function openPrivate(options: PrivateOptions): Promise<Cluster> {
  const directory = clusterDirectory(options.directory, options.name);
  const data = join(directory, "data");
  const files: server.ServerFiles = { directory, data, log: join(directory, "server.log"), user: await serverUser(data) };
  const me: User = { ...myself(), id: randomUUID() };

  return withLock(
    join(directory, "lock"),
    async () => {
      const live = await settled(data);
      const before = readRunning(directory);
      if (live && before?.postmaster === live.pid && isAlive(before.owner)) {
        const running = { ...before, users: [...before.users.filter(isAlive), me] };
        return join_(options, files, running, me);
      }
      return own(options, files, live, me);
    },
    (pid) => options.report(`waiting for process ${pid}, which is starting PostgreSQL`),
  );
}
