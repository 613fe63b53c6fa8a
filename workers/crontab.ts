/**
 * Crons: every worker checks once a second which cron times have come, and tries to claim them. Only one worker gets
 * each time. PostgreSQL's clock decides: a worker whose own clock is ahead would run a cron early, for all workers.
 * Next hop: `sql/jobs/claim_cron.sql`; what it enqueues is run by `tasks/procedure.ts`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import type { CronDefinition } from "../src/contract/cron.ts";
import { oneAtATime } from "../src/kit/one-at-a-time.ts";

/** In milliseconds. */
const lookEvery = 1_000;

export interface CrontabOptions {
  crons: readonly CronDefinition[];
  /** The system's. */
  pool: pg.Pool;
  log: Logger;
  /** (Default: PostgreSQL's clock) */
  now?: () => Date;
}

export interface Crontab {
  /** Claims the times that have come. Called once a second; tests with their own clock call it. */
  look(): Promise<void>;
  close(): Promise<void>;
}

interface State {
  anchor: Date;
  lastSlot: Date;
}

interface Slot {
  anchor: Date;
  last_slot: Date;
}

interface Claim extends Slot {
  job: string | null;
  /** The schedule that holds; null if the cron is not registered any more. */
  registered: string | null;
}

/** @param options with `now` nothing happens until `look` is called */
export function startCrontab({ crons, pool, log, now }: CrontabOptions): Crontab {
  const states = new Map<string, State>();
  /** Crons for which another release has registered another schedule. */
  const replaced = new Set<string>();
  let looking: Promise<void> | undefined;

  const ask = async (): Promise<Date> => {
    const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
    return (rows as [{ now: Date }])[0].now;
  };

  const register = async ({ name, schedule }: CronDefinition, at: Date): Promise<State> => {
    const { rows } = await pool.query<Slot>("select anchor, last_slot from svc_private.register_cron($1, $2, $3)", [
      name,
      schedule.text,
      at,
    ]);
    const [row] = rows as [Slot];
    return { anchor: row.anchor, lastSlot: row.last_slot };
  };

  const claim = async (cron: CronDefinition, at: Date): Promise<void> => {
    const known = states.get(cron.name);
    // A last time that is still to come: the clock has been set back.
    const state = known && known.lastSlot <= at ? known : await register(cron, at);
    states.set(cron.name, state);
    const slot = cron.schedule.latest(at, state.anchor);
    if (!slot || slot <= state.lastSlot) return;
    const { rows } = await pool.query<Claim>(
      "select job, last_slot, registered, anchor from svc_private.claim_cron($1, $2, $3, $4, $5)",
      [cron.name, cron.schedule.text, slot, cron.procedure.name, state.anchor],
    );
    const [{ job, last_slot, registered, anchor }] = rows as [Claim];
    if (registered === null) return void states.delete(cron.name);
    const isReplaced = registered !== cron.schedule.text;
    if (!isReplaced && anchor.getTime() !== state.anchor.getTime()) {
      // Another worker has registered the cron anew: its times count from then on.
      states.set(cron.name, { anchor, lastSlot: last_slot });
      return;
    }
    // Claimed by another worker, or under another schedule: do not try it again every second.
    state.lastSlot = slot;
    if (job) log.info({ cron: cron.name, slot, job }, "cron enqueued");
    if (!isReplaced) replaced.delete(cron.name);
    else if (!replaced.has(cron.name)) {
      replaced.add(cron.name);
      log.warn({ cron: cron.name, registered }, "a worker of another release runs this cron by another schedule");
    }
  };

  const look = async () => {
    const at = now?.() ?? (await ask());
    for (const cron of crons) {
      await claim(cron, at).catch((error) =>
        log.warn({ cron: cron.name, reason: String(error) }, "cron could not be claimed; trying again"),
      );
    }
  };

  /** Without the database there is no time to claim; the log says so once. */
  let isLost = false;
  const lookAgain = oneAtATime(() =>
    look().then(
      () => {
        isLost = false;
      },
      (error) => {
        if (!isLost) log.warn({ reason: String(error) }, "no cron could be claimed; trying again each second");
        isLost = true;
      },
    ),
  );

  const timer =
    now || crons.length === 0
      ? undefined
      : setInterval(() => {
          looking = lookAgain();
        }, lookEvery);

  return {
    look,
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
