// If this file fails, several processes behind one port lose requests or do not come back after a crash, or stay when they
// cannot serve.
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sharedVariable } from "../../src/server/shared-metrics.ts";
import { fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { twoProcesses } from "./two-processes.ts";

const db = database();
const { command, url, processes, get, logged } = twoProcesses(db);

const starts = async () => /^svc_process_starts_total (\d+)/m.exec(await (await get("/metrics")).text())?.[1];

test("a process that is killed is replaced by one that gets no connection before it can answer; the other does meanwhile", async () => {
  // A start reads which migrations are applied: it waits here for as long as the test wants.
  const admin = await db.connect("admin");
  await admin.query("begin; lock table svc_private.applied_sql in access exclusive mode");
  const [killed = 0, other = 0] = processes();
  // What was never read of a process is not in the sum, and a busy one may not answer at once.
  await expect.poll(starts).toBe("2");
  process.kill(killed, "SIGKILL");
  await expect.poll(() => processes()).not.toContain(killed);
  for (let number = 0; number < 5; number++) expect((await get("/healthz")).status).toBe(200);
  await expect.poll(() => processes().length).toBe(2);
  const waiting = "select from pg_locks where relation = 'svc_private.applied_sql'::regclass and not granted";
  await expect.poll(async () => (await db.sql(waiting)).length).toBeGreaterThan(0);
  // The one that starts would not answer yet: rolling restarts lost calls to it.
  for (let number = 0; number < 20; number++) expect((await get("/healthz")).status).toBe(200);

  // The metrics of all do not wait for it either. Those of one process would have its start time.
  const started = processes().find((pid) => pid !== other) ?? 0;
  process.kill(started, "SIGSTOP");
  const text = await (await get("/metrics")).text();
  process.kill(started, "SIGCONT");
  await admin.query("commit");
  expect(text).toMatch(/^svc_http_request_duration_seconds_count/m);
  expect(text).not.toMatch(/^process_start_time_seconds/m);
  expect(processes()).toContain(other);
  expect(command().output()).toContain(`Process ${killed} ended (SIGKILL). Another one is started.`);
  // An alert tells of processes that end again and again.
  await expect.poll(starts).toBe("3");
  await expect
    .poll(async () => {
      await get("/nowhere");
      return logged().map(({ pid }) => pid);
    })
    .toContain(started);
});

/** On one connection, which stays with its process. */
async function getFrom(agent: Agent, path: string) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request(url() + path, { agent }, resolve)
    .on("error", reject)
    .end();
  const response = await promise;
  for await (const _ of response);
  return response;
}

test("a message to a process that was killed at that moment does not end the others", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { headers } = await getFrom(agent, "/nowhere");
  const served = () => logged().find(({ requestId }) => requestId === headers["x-request-id"])?.pid;
  await expect.poll(served).toEqual(expect.any(Number));
  const asking = served();
  const killed = processes().find((pid) => pid !== asking) ?? 0;

  // The process that started them wakes up with a question for the metrics of all, and one of them is dead.
  process.kill(command().child.pid ?? 0, "SIGSTOP");
  const metrics = getFrom(agent, "/metrics");
  await sleep(500);
  process.kill(killed, "SIGKILL");
  await expect.poll(() => readFileSync(`/proc/${killed}/stat`, "utf8")).toContain(") Z ");
  process.kill(command().child.pid ?? 0, "SIGCONT");

  expect((await metrics).statusCode).toBe(200);
  await expect.poll(() => processes().filter((pid) => pid !== killed).length).toBe(2);
  expect(processes()).toContain(asking);
  agent.destroy();
});

// They had printed why, and stayed: `svc start --processes` waited for their end for ever, and no service manager heard of it.
test("processes that refuse to serve end, and the command with them", async () => {
  await db.sql("delete from svc_private.applied_sql where scope = 'application'");
  const refused = svc(db, fixture, ["start", "--processes", "2"]);
  expect((await refused.ended).code).toBe(1);
  expect(refused.output()).toContain("Run `svc migrate` first.");
  expect(refused.output()).toContain("A process could not start.");
});

// What a process printed says nothing where the kernel has killed it, such as for its memory.
test("a process that is killed while it starts is told with its signal", async () => {
  const kill = `if(process.env.${sharedVariable})process.kill(process.pid,"SIGKILL")`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(kill)}`;
  const killed = svc(db, fixture, ["start", "--processes", "2"], { NODE_OPTIONS });
  expect((await killed.ended).code).toBe(1);
  expect(killed.output()).toContain("was killed while it started (SIGKILL).");
  expect(killed.output()).not.toContain("What it printed above says why.");
});
