// If this file fails, an application whose own PostgreSQL dies answers 503 until a manual restart, or claims to run
// when it cannot recover.
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcError } from "../../client/sdk/src/index.ts";
import { api } from "../../examples/desk/web/svc/api.ts";
import { clusterDirectory } from "../../src/cluster/places.ts";
import { type Command, svc } from "../support/cli.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { ask, inAnotherProcess, open, serverPid, temporary } from "./clusters.ts";

const seconds = 1000;
const kill = (cluster: { directory: string | null }) => process.kill(serverPid(cluster), "SIGKILL");
/** Waits for an answer, up to the test's timeout. */
async function answers(url: string, statement: string): Promise<unknown> {
  for (;;) {
    const answer = await ask(url, statement).catch(() => undefined);
    if (answer !== undefined) return answer;
    await sleep(50);
  }
}

describe("a private server that is killed", { timeout: 60 * seconds }, () => {
  test("is started again where it was, with what was committed, and again", async () => {
    const cluster = await open(temporary());
    await ask(cluster.urls.admin, "create table kept as select 42 as n");
    for (let death = 0; death < 2; death++) {
      const pid = serverPid(cluster);
      kill(cluster);
      expect(await answers(cluster.urls.admin, "select n from kept")).toBe(42);
      expect(serverPid(cluster)).not.toBe(pid);
    }
    await cluster.stop();
    await sleep(600); // nobody starts it now
    await expect(ask(cluster.urls.admin, "select 1")).rejects.toThrow();
  });

  test("is started again by its owner, and guests find it; by a guest, when the owner is killed too", async () => {
    const directory = temporary();
    const owner = await inAnotherProcess(directory);
    const guest = await open(directory);
    await ask(guest.urls.admin, "create table kept as select 42 as n");
    kill(guest);
    expect(await answers(guest.urls.admin, "select n from kept")).toBe(42);
    await owner.kill();
    kill(guest);
    expect(await answers(guest.urls.admin, "select n from kept")).toBe(42);
    await guest.stop();
    await expect(ask(guest.urls.admin, "select 1")).rejects.toThrow();
  });

  test("and cannot be started again is given up, with the reason", async () => {
    const cluster = await open(temporary());
    const data = join(cluster.directory ?? "", "data");
    kill(cluster);
    await rm(data, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    const error = await cluster.failed;
    expect(error.message).toMatch(/its data in .* is gone/);
  });
});

describe("svc start, whose server is killed", { timeout: 180 * seconds }, () => {
  let command: Command | undefined;
  let folder = "";
  afterEach(async () => {
    command?.child.kill("SIGTERM");
    await command?.ended;
    await rm(dirname(clusterDirectory(join(folder, ".svc"), "postgres")), { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  });

  test("serves and tells changes again, with every row that was acknowledged; gone for good, it exits", async () => {
    await mkdir(join(root, ".svc"), { recursive: true });
    folder = await mkdtemp(join(root, ".svc/death-")); // inside the project, where @svc/core resolves
    const filter = (path: string) => !path.includes("/.svc/postgres") && !path.includes("node_modules");
    await cp(join(root, "examples/desk"), folder, { recursive: true, filter });
    const names = ["", "SYSTEM_", "AUTH_", "ADMIN_", "REPLICATION_"].map((purpose) => `DATABASE_${purpose}URL`);
    const without = Object.fromEntries(names.map((name) => [name, ""]));
    command = svc({ environment: {} } as Database, folder, ["start"], without);
    const { output } = command;
    await expect.poll(output, { timeout: 90 * seconds }).toMatch(/Ready: \S+/);
    const baseUrl = /Ready: (\S+)/.exec(output())?.[1] ?? "";

    const auth = createAuthClient(baseUrl, { sessionTokenStorage: "memory" });
    await auth.signUp("ann@example.com", "correct horse", "Ann");
    const client = createSvcClient({ api, baseUrl, auth });
    const watched = new Set<string>();
    const stop = client.watch(api.tasks.list, { limit: 100 }, (page) => {
      for (const { title } of page.data) watched.add(title);
    });
    const acknowledged: string[] = [];
    const refused = new Set<string>();
    const write = async () => {
      const title = crypto.randomUUID();
      await client.mutate(api.tasks.create, { title }).then(
        () => acknowledged.push(title),
        (error: SvcError) => refused.add(error.code),
      );
    };
    const directory = clusterDirectory(join(folder, ".svc"), "postgres");
    for (let death = 0; death < 3; death++) {
      const { length } = acknowledged;
      while (acknowledged.length < length + 5) await write();
      const writing = Promise.all([write(), write(), write()]);
      kill({ directory });
      await writing;
      while (acknowledged.length < length + 12) await write();
    }
    expect([...refused].filter((code) => code !== "UNAVAILABLE" && code !== "OUTCOME_UNKNOWN")).toEqual([]);
    await expect.poll(() => acknowledged.filter((title) => !watched.has(title))).toEqual([]);
    stop();
    client.close();
    auth.close();
    expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);
    expect(output().match(/PostgreSQL has ended unexpectedly/g)).toHaveLength(3);

    // It cannot be restarted: the process ends with the reason.
    kill({ directory });
    await rm(join(directory, "data"), { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    const { code, error } = await command.ended;
    expect(error).toMatch(/PostgreSQL has ended, and its data in .* is gone\. Start again/);
    expect(code).toBe(1);
  });
});
