// If this file fails, an operator cannot see the queue, change its jobs, or stop a worker in order.
import type { ChildProcess } from "node:child_process";
import { afterEach, describe, expect, test } from "vitest";
import { fixture, svc, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { jobs, until } from "../support/worker.ts";

const db = database();
const running: ChildProcess[] = [];
afterEach(() => {
  for (const child of running.splice(0)) child.kill("SIGKILL");
});

// As in production, where only migrations have the administrator's login.
const env = { DATABASE_ADMIN_URL: "" };
const run = (...args: string[]) => svcHere(db, fixture, args, env);

function start(...args: string[]) {
  const command = svc(db, fixture, args, env);
  running.push(command.child);
  return command;
}

async function enqueue(name: string): Promise<string> {
  const [row] = await db.sql(
    `select svc_private.enqueue_system_job($1, '{"id": 7}', interval '1 hour', null, 'request-1') as id`,
    [name],
  );
  return row?.id;
}

describe("svc jobs", () => {
  test("lists, shows, retries and cancels", async () => {
    const first = await enqueue("tasks.first");
    const second = await enqueue("tasks.second");
    await db.sql(
      "update graphile_worker._private_jobs set attempts = max_attempts, last_error = 'no such mailbox' where id = $1",
      [first],
    );
    const all = await run("jobs", "list");
    expect(all.code).toBe(0);
    expect(all.text).toMatch(/id +state +name +as +attempts +run at \(UTC\) +last error/);
    expect(all.text).toMatch(new RegExp(`${second} +scheduled +tasks.second +system +0/10 `));
    expect(all.text).toMatch(/0 due, 0 running, 1 scheduled, 1 dead/);

    const dead = await run("jobs", "list", "--state", "dead");
    expect(dead.text).toMatch(new RegExp(`${first} +dead +tasks.first +system +10/10 .*no such mailbox`));
    expect(dead.text).not.toContain("tasks.second");

    const shown = await run("jobs", "show", first);
    expect(shown.text).toMatch(/request +request-1\narguments +\{"id":7\}\nlast error +no such mailbox/);

    expect(await run("jobs", "retry", first)).toMatchObject({ code: 0 });
    expect((await jobs(db)).find(({ id }) => id === first)?.attempts).toBe(0);
    expect(await run("jobs", "cancel", second)).toMatchObject({ code: 0 });
    expect((await jobs(db)).map(({ id }) => id)).toEqual([first]);
  });

  test("lists finished jobs by pages, and by name, outcome and time", async () => {
    await db.sql(
      `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
         select n, 'procedure', 'tasks.' || n % 2, case n when 4 then 'dead' else 'done' end, n, now(), now(),
                now() + n * interval '1 second'
           from generate_series(1, 5) n`,
    );
    const list = async (...args: string[]): Promise<{ entry: string; job: string; ms: number }[]> =>
      JSON.parse((await run("jobs", "history", "--json", ...args)).out);
    const ids = async (...args: string[]) => (await list(...args)).map(({ job }) => job);
    const first = await list("--limit", "2");
    expect(first).toMatchObject([{ job: "5" }, { job: "4", outcome: "dead", name: "tasks.0", attempts: 4, ms: 4000 }]);
    expect(await ids("--before", first[1]?.entry ?? "")).toEqual(["3", "2", "1"]);
    expect(await ids("--name", "tasks.0")).toEqual(["4", "2"]);
    expect(await ids("--outcome", "dead")).toEqual(["4"]);
    expect(await ids("--least", "3000", "--outcome", "done")).toEqual(["5", "3"]);
    expect((await run("jobs", "history", "--limit", "1")).text).toMatch(
      /entry +job +outcome +name +attempts +started at \(UTC\) +took\n\d+ +5 +done +tasks.1 +5 .* 5000 ms/,
    );
  });

  test("prints nothing that a terminal would obey, whatever the message of an error holds", async () => {
    const id = await enqueue("tasks.hostile");
    const hostile = "\u001b]52;c;b3duZWQ=\u0007no \u001b[2Jsuch\u009b1A mailbox\r\nand more";
    await db.sql("update graphile_worker._private_jobs set last_error = $1 where id = $2", [hostile, id]);
    for (const args of [["list"], ["show", id]]) {
      const { text } = await run("jobs", ...args);
      expect(text).toContain("no [2Jsuch1A mailbox");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
      expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
  });

  test("nor does an error that names what was given", async () => {
    const { text } = await run("jobs", "retry", "\u001b[2J\u009b1A\u0007x");
    expect(text).toContain('"[2J1Ax" is not a job\'s id');
  });

  test.for([
    [["show", "999999"], /There is no job 999999/],
    [["retry", "x"], /"x" is not a job's id/],
    [["history", "--outcome", "lost"], /--outcome lost is unknown[\s\S]*There are: done, dead/],
    [["history", "--before", "x"], /--before x is not an entry/],
    [["list", "--state", "lost"], /--state lost is unknown[\s\S]*There are: dead, failing, running, due, scheduled/],
  ] as const)("%j says what is wrong", async ([args, says]) => {
    const { code, text } = await run("jobs", ...args);
    expect(code).toBe(1);
    expect(text).toMatch(says);
  });

  test("needs no login but that of svc_system", async () => {
    const nowhere = "postgres://nobody@127.0.0.1:1/none";
    const others = { DATABASE_URL: nowhere, DATABASE_AUTH_URL: nowhere, DATABASE_REPLICATION_URL: nowhere };
    expect(await svcHere(db, fixture, ["jobs", "list"], { ...env, ...others })).toMatchObject({ code: 0 });
    const { code, text } = await svcHere(db, fixture, ["jobs", "list"], { ...env, DATABASE_SYSTEM_URL: nowhere });
    expect([code, text]).toEqual([1, expect.stringContaining("DATABASE_SYSTEM_URL does not lead to a database")]);
  });

  test("follows the queue", async () => {
    const tail = start("jobs", "tail");
    const id = await enqueue("tasks.followed");
    // Changes before its start are not shown, so repeat until one is.
    for (let change = 0; !tail.output().includes("tasks.followed"); change++) {
      await db.sql("update graphile_worker._private_jobs set attempts = $2 % 9 where id = $1", [id, change]);
      await until(() => true);
    }
    tail.child.kill("SIGTERM");
    expect((await tail.ended).code).toBe(0);
  });
});

describe("svc worker", () => {
  test("takes jobs and ends in order when it is told to", async () => {
    const worker = start("worker", "--concurrency", "2", "--queues", "procedure", "--metrics-port", "0");
    await expect.poll(worker.output).toMatch(/Taking jobs, 2 at a time/);
    const id = await enqueue("no.such.procedure");
    await db.sql("select svc_private.retry_job($1)", [id]);
    const error = async () => (await jobs(db)).find((job) => job.id === id)?.last_error;
    await expect.poll(error).toMatch(/no internal procedure/);
    const [, metrics = ""] = /Metrics: (\S+)/.exec(worker.output()) ?? [];
    const told = async () => (await fetch(metrics)).text();
    await expect.poll(told).toMatch(/svc_job_duration_seconds_count\{.*outcome="failed"\} [1-9]/);
    worker.child.kill("SIGHUP"); // as a closed terminal does; `svc start` gets the others
    expect((await worker.ended).code).toBe(0);
    expect(worker.output()).toMatch(/SIGHUP: finishing the jobs that run/);
  });

  test("refuses a number of jobs that is none", async () => {
    const { code, text } = await run("worker", "--concurrency", "many");
    expect([code, text]).toEqual([1, expect.stringMatching(/is not a whole number from 1 to 200/)]);
  });
});
