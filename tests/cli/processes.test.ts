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
    const counts = [...text.matchAll(/^svc_http_request_duration_seconds_count\{.*status="404"\} (\d+)$/gm)];
    expect(counts.map(([, count]) => Number(count)).reduce((sum, count) => sum + count, 0)).toBe(20);
    expect(text).toMatch(/^svc_jobs\{state="dead"\} 0$/m);
  }
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
