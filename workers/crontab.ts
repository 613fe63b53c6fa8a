/**
 * Crons: every worker checks once a second which cron times have come, and tries to claim them. Only one worker gets
 * each time.
 * Next hop: `sql/jobs/claim_cron.sql`; what it enqueues is run by `tasks/procedure.ts`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import type { CronDefinition } from "../src/contract/cron.ts";

/** In milliseconds. */
const lookEvery = 1_000;

export interface CrontabOptions {
  crons: readonly CronDefinition[];
  /** The system's. */
  pool: pg.Pool;
  log: Logger;
  /** (Default: the process's clock) */
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

/** @param options with `now` nothing happens until `look` is called */
export function startCrontab({ crons, pool, log, now }: CrontabOptions): Crontab {
  const states = new Map<string, State>();
  const clock = now ?? (() => new Date());
  let looking: Promise<void> | undefined;

  const register = async ({ name, schedule }: CronDefinition): Promise<State> => {
    const { rows } = await pool.query<Slot>("select anchor, last_slot from svc_private.register_cron($1, $2, $3)", [
      name,
      schedule.text,
      clock(),
    ]);
    const [row] = rows as [Slot];
    return { anchor: row.anchor, lastSlot: row.last_slot };
  };

  const claim = async (cron: CronDefinition): Promise<void> => {
    const state = states.get(cron.name) ?? (await register(cron));
    states.set(cron.name, state);
    const slot = cron.schedule.latest(clock(), state.anchor);
    if (!slot || slot <= state.lastSlot) return;
    const { rows } = await pool.query<{ job: string | null; last_slot: Date }>(
      "select job, last_slot from svc_private.claim_cron($1, $2, $3, $4)",
      [cron.name, cron.schedule.text, slot, cron.procedure.name],
    );
    const [row] = rows;
    // Claimed by another worker, or under another schedule: do not try it again every second.
    state.lastSlot = slot;
    if (row?.job) log.info({ cron: cron.name, slot, job: row.job }, "cron enqueued");
  };

  const look = async () => {
    for (const cron of crons) {
      await claim(cron).catch((error) =>
        log.warn({ cron: cron.name, reason: String(error) }, "cron could not be claimed; trying again"),
      );
    }
  };

  const timer =
    now || crons.length === 0
      ? undefined
      : setInterval(() => {
          looking ??= look().finally(() => {
            looking = undefined;
          });
        }, lookEvery);

  return {
    look,
    async close() {
      clearInterval(timer);
      await looking;
    },
  };
}
