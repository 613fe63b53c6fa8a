// If this file fails, a nightly cron runs twice or not at all, or an hour off after the change of clocks.

import type pg from "pg";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { cron } from "../../src/contract/cron.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { type Crontab, startCrontab } from "../../workers/crontab.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { jobs, until, workers } from "../support/worker.ts";

const db = database();
let pool: pg.Pool;
beforeAll(() => {
  pool = db.pool("system", 5);
});
const ran: unknown[] = [];
const tick = procedure.internal.name("crons.tick").handler(({ context, input }) => {
  ran.push({ input, session: context.auth.getSession() });
});

const minute = 60_000;
const hour = 60 * minute;

/** The crontabs of ten workers under one clock. */
class Workers {
  now = new Date(0);
  readonly #tabs: Crontab[];

  constructor(cronTo: ReturnType<typeof cron.name>) {
    const crons = [cronTo.handler(tick)["~svc"].cron];
    this.#tabs = Array.from({ length: 10 }, () =>
      startCrontab({ crons, pool, log: createLog("silent"), now: () => this.now }),
    );
  }

  /** All check at once, at each step; returns the times at which jobs were enqueued. */
  async from(start: string, end: string, step: number): Promise<string[]> {
    const enqueued: string[] = [];
    for (let time = Date.parse(start); time <= Date.parse(end); time += step) {
      this.now = new Date(time);
      const before = (await jobs(db)).length;
      await Promise.all(this.#tabs.map((tab) => tab.look()));
      const added = (await jobs(db)).length - before;
      enqueued.push(...Array<string>(added).fill(this.now.toISOString().slice(0, 16)));
    }
    return enqueued;
  }
}

beforeEach(async () => {
  await db.sql("truncate svc_private.crons, graphile_worker._private_jobs");
});

describe("ten workers under one clock", () => {
  test("run a daily cron once a day over both changes of clocks", async () => {
    const workers = new Workers(cron.name("nightly").daily({ hour: 2, minute: 30, timezone: "Europe/Berlin" }));
    expect(await workers.from("2026-03-27T12:00Z", "2026-03-31T12:00Z", 30 * minute)).toEqual([
      "2026-03-28T01:30",
      "2026-03-29T01:00", // 02:30 does not exist: at the change
      "2026-03-30T00:30",
      "2026-03-31T00:30",
    ]);
    expect(await workers.from("2026-10-24T12:00Z", "2026-10-27T12:00Z", 30 * minute)).toEqual([
      "2026-10-24T12:00", // the summer's one catch-up
      "2026-10-25T00:30", // 02:30 comes twice, and counts once
      "2026-10-26T01:30",
      "2026-10-27T01:30",
    ]);
  });

  test("run an hourly expression each hour that passes, also in the night of 25 hours", async () => {
    const workers = new Workers(cron.name("hourly").cron("0 * * * *", { timezone: "Europe/Berlin" }));
    expect(await workers.from("2026-10-24T22:30Z", "2026-10-25T03:30Z", 15 * minute)).toHaveLength(5);
  });

  test("run an interval of 45 minutes every 45 minutes", async () => {
    const workers = new Workers(cron.name("often").interval({ minutes: 45 }));
    expect(await workers.from("2026-01-01T10:10Z", "2026-01-01T13:40Z", 5 * minute)).toEqual(
      ["10:55", "11:40", "12:25", "13:10"].map((time) => `2026-01-01T${time}`),
    );
  });

  test("go on when the clock was two hours ahead and is set back, and repeat nothing when it is corrected a little", async () => {
    const often = cron.name("often").interval({ minutes: 10 });
    const workers = new Workers(often);
    expect(await workers.from("2026-01-01T12:00Z", "2026-01-01T12:20Z", minute)).toHaveLength(2);
    expect(await workers.from("2026-01-01T10:05Z", "2026-01-01T10:25Z", minute)).toEqual(
      ["10:15", "10:25"].map((time) => `2026-01-01T${time}`),
    );
    expect(await workers.from("2026-01-01T10:24Z", "2026-01-01T10:26Z", minute)).toEqual([]);
    // Workers that start later.
    expect(await new Workers(often).from("2026-01-01T07:00Z", "2026-01-01T07:10Z", minute)).toHaveLength(1);
  });

  test("catch up an outage of two hours with one run", async () => {
    const workers = new Workers(cron.name("often").interval({ minutes: 10 }));
    expect(await workers.from("2026-01-01T10:00Z", "2026-01-01T10:20Z", minute)).toHaveLength(2);
    expect(await workers.from("2026-01-01T12:23Z", "2026-01-01T12:41Z", minute)).toEqual(
      ["12:23", "12:30", "12:40"].map((time) => `2026-01-01T${time}`),
    );
  });

  test("run a weekly cron on its day", async () => {
    const workers = new Workers(cron.name("weekly").weekly({ day: "monday", hour: 6 }));
    expect(await workers.from("2026-01-01T00:00Z", "2026-01-14T00:00Z", hour)).toEqual([
      "2026-01-05T06:00",
      "2026-01-12T06:00",
    ]);
  });

  test("begin anew with another schedule", async () => {
    await new Workers(cron.name("changed").interval({ minutes: 10 })).from(
      "2026-01-01T10:00Z",
      "2026-01-01T10:05Z",
      minute,
    );
    const changed = new Workers(cron.name("changed").interval({ minutes: 30 }));
    expect(await changed.from("2026-01-01T11:00Z", "2026-01-01T11:40Z", minute)).toEqual(["2026-01-01T11:30"]);
  });

  test("of a release that was not replaced go on when the newer one, with another schedule, is taken back", async () => {
    const every = (minutes: number) => new Workers(cron.name("back").interval({ minutes }));
    const older = every(10);
    await older.from("2026-01-01T10:00Z", "2026-01-01T10:00Z", minute);
    const newer = await db.connect("system");
    await newer.query("select svc_private.hold_definitions($1)", [[`cron back every ${30 * minute} ms`]]);
    await every(30).from("2026-01-01T10:05Z", "2026-01-01T10:05Z", minute);
    expect(await older.from("2026-01-01T10:06Z", "2026-01-01T10:21Z", minute)).toEqual([]);
    await newer.query("select pg_advisory_unlock_all()"); // as if it had ended
    expect(await older.from("2026-01-01T10:22Z", "2026-01-01T10:55Z", minute)).toEqual(
      ["10:30", "10:40", "10:50"].map((time) => `2026-01-01T${time}`),
    );
  });

  test("of two releases, one of which began the intervals anew, run each of them once", async () => {
    const every = (minutes: number) => new Workers(cron.name("anew").interval({ minutes }));
    const older = every(10);
    await older.from("2026-01-01T10:00Z", "2026-01-01T10:00Z", minute);
    await every(30).from("2026-01-01T10:05Z", "2026-01-01T10:05Z", minute);
    const restarted = every(10);
    await restarted.from("2026-01-01T10:07Z", "2026-01-01T10:07Z", minute);
    const enqueued: string[] = [];
    for (let time = Date.parse("2026-01-01T10:08Z"); time < Date.parse("2026-01-01T11:07Z"); time += minute) {
      const now = new Date(time).toISOString();
      enqueued.push(...(await older.from(now, now, minute)), ...(await restarted.from(now, now, minute)));
    }
    expect(enqueued).toEqual(["10:17", "10:27", "10:37", "10:47", "10:57"].map((time) => `2026-01-01T${time}`));
  });

  test("that restart go on where they were", async () => {
    const interval = () => new Workers(cron.name("steady").interval({ hours: 1 }));
    await interval().from("2026-01-01T10:00Z", "2026-01-01T10:30Z", minute);
    expect(await interval().from("2026-01-01T10:40Z", "2026-01-01T11:10Z", minute)).toEqual(["2026-01-01T11:00"]);
  });
});

describe("a worker whose clock is wrong", () => {
  afterEach(() => {
    vi.useRealTimers();
  });
  const daily = cron.name("daily").daily({ hour: 0, timezone: "UTC" }).handler(tick)["~svc"].cron;
  const worker = () => startCrontab({ crons: [daily], pool, log: createLog("silent") });

  test.for([
    ["ahead", 25 * hour],
    ["behind", -25 * hour],
  ] as const)("%s runs a cron at PostgreSQL's time, and no other", async ([, wrong]) => {
    const tab = worker();
    await tab.look();
    await tab.close();
    await db.sql("update svc_private.crons set last_slot = last_slot - interval '2 days'");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + wrong });
    const wrongTab = worker();
    await wrongTab.look();
    await wrongTab.close();
    expect(await jobs(db)).toHaveLength(1);
    const times = await db.sql(
      `select last_slot <= clock_timestamp() and last_slot > clock_timestamp() - interval '1 day' as "isLatest"
         from svc_private.crons`,
    );
    expect(times).toEqual([{ isLatest: true }]);
  });
});

const api = defineApi({ crons: { every: cron.name("every").interval({ seconds: 10 }).handler(tick) } });
const worker = workers(db, api);
test("a cron's procedure runs as the system, without input", async () => {
  await worker();
  await until(async () => (await db.sql("select from svc_private.crons")).length === 1);
  // Its times count from its registration: move that into the past.
  const [row] = await db.sql(
    "select job from svc_private.claim_cron('every', 'every 10000 ms', now() + interval '1 second', 'crons.tick')",
  );
  expect(row?.job).not.toBeNull();
  await until(() => ran.length > 0);
  expect(ran[0]).toEqual({ input: undefined, session: null });
});

describe("what cannot be a cron is refused when it is defined", () => {
  const named = () => cron.name("x");
  const query = procedure.query.name("crons.query").handler(() => 1);
  const mutation = procedure.mutation.name("crons.mutation").handler(() => 1);
  test.for<[string, () => unknown]>([
    ["no name", () => cron.name("")],
    ["an interval below ten seconds", () => named().interval({ seconds: 9 })],
    ["no interval", () => named().interval({})],
    ["an unknown unit", () => named().interval({ days: 1 } as never)],
    ["a negative interval", () => named().interval({ minutes: -1, hours: 1 })],
    ["hour 24", () => named().daily({ hour: 24 })],
    ["minute 60", () => named().daily({ hour: 1, minute: 60 })],
    ["day 7", () => named().weekly({ day: 7, hour: 1 })],
    ["no day", () => named().weekly({ day: "caturday", hour: 1 })],
    ["a wrong expression", () => named().cron("61 * * * *")],
    ["an expression that never comes", () => named().cron("0 0 31 2 *")],
    ["a time zone that is none", () => named().daily({ hour: 1, timezone: "Mars/Base" })],
    ["no schedule", () => named().handler(tick)],
    ["two schedules", () => named().daily({ hour: 1 }).interval({ hours: 1 })],
    ...[query, mutation, undefined].map((other, index): [string, () => unknown] => [
      `what is no internal procedure (${index + 1})`,
      () =>
        named()
          .daily({ hour: 1 })
          .handler(other as never),
    ]),
    ["no handler", () => defineApi({ crons: { x: named().daily({ hour: 1 }) as never } })],
    [
      "a name that is taken",
      () =>
        defineApi({
          crons: { a: named().daily({ hour: 1 }).handler(tick), b: named().daily({ hour: 2 }).handler(tick) },
        }),
    ],
    [
      "another procedure of the same name",
      () =>
        defineApi({
          procedures: { tick: procedure.internal.name("crons.tick").handler(() => 1) },
          crons: { a: named().daily({ hour: 1 }).handler(tick) },
        }),
    ],
  ])("%s", ([, define]) => expect(define).toThrow(DefinitionError));
  test("a time zone is called that", () => {
    expect(() => named().daily({ hour: 1, timezone: "Berlin" })).toThrow(/timezone "Berlin".*\n.*IANA/);
  });
});
