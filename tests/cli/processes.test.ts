// If this file fails, several processes behind one port do not share the requests, or cannot be stopped.
import { expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { isRunning } from "../support/is-running.ts";
import { twoProcesses } from "./two-processes.ts";

const db = database();
const { command, processes, get, logged } = twoProcesses(db);

test("share the requests, and whichever is asked has the metrics of all", async () => {
  for (let number = 0; number < 20; number++) expect((await get("/api/hello-nobody")).status).toBe(404);
  const answering = () => new Set(logged().flatMap(({ pid, requestId }) => (requestId ? [pid] : [])));
  await expect.poll(() => [...answering()].sort()).toEqual(processes().sort());
  for (let number = 0; number < 3; number++) {
    const text = await (await get("/metrics")).text();
    expect(notFound(text)).toBe(20);
    expect(text).toMatch(/^svc_jobs\{state="dead"\} 0$/m);
  }
});

function notFound(metrics: string): number {
  const counts = metrics.matchAll(/^svc_http_request_duration_seconds_count\{.*status="404"\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

// The sum fell, which Prometheus takes for a restart: a rate showed all that the others had ever counted.
test("what a process has counted stays in the sum when it is killed, and gauges do not", async () => {
  const [killed = 0] = processes();
  process.kill(killed, "SIGKILL");
  await expect.poll(() => processes()).not.toContain(killed);
  const text = await (await get("/metrics")).text();
  expect(notFound(text)).toBe(20);
  expect(text).toMatch(/^svc_pool_size\{pool="request"\} 10$/m);
  await expect
    .poll(async () => (await (await get("/metrics")).text()).match(/^svc_pool_size\{pool="request"\} \d+$/m)?.[0])
    .toBe('svc_pool_size{pool="request"} 20');
  expect(notFound(await (await get("/metrics")).text())).toBe(20);
});

test("stop together, after the requests in flight", async () => {
  const all = processes();
  command().child.kill("SIGTERM");
  const { code } = await command().ended;
  expect({ code, left: all.filter((pid) => isRunning(pid)) }).toEqual({ code: 0, left: [] });
  expect(command().output()).toContain("All processes have ended.");
});

test("an invalid number is refused, and so is an application that cannot start", async () => {
  const wrong = await svcHere(db, fixture, ["start", "--processes", "many"]);
  expect(wrong).toMatchObject({
    code: 1,
    error: expect.stringContaining("--processes many is not a number of processes."),
  });
  const broken = await svcHere(db, fixture, ["start", "--processes", "2"], {
    DATABASE_URL: "postgres://nobody:x@127.0.0.1:1/none",
  });
  expect([broken.code, broken.error]).toEqual([1, expect.stringContaining("does not lead to a database")]);
});
