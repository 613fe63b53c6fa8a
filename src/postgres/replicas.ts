/**
 * Streaming standbys for queries, and the replay position of each. A client sends the position that it must see (a
 * place in the write-ahead log). A standby that has replayed it may answer; otherwise the primary does.
 * Next hop: `src/server/replica-reads.ts`; docs/adr/0012-standbys-answer-those-who-say-what-they-have-seen.md.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { createPool, type OnePool, type PoolSettings } from "./pools.ts";

/** In milliseconds: interval between two reads of the standbys' positions. */
const lookEvery = 100;
/** In milliseconds, between two connections to an address that leads to no standby of the primary. */
const connectEvery = 10_000;

const ownPosition = { name: "svc_position", text: "select pg_current_wal_insert_lsn()::text as position" };
// A promoted standby no longer replays: its own write position counts.
const replayed = {
  name: "svc_replayed",
  text: "select case when pg_is_in_recovery() then pg_last_wal_replay_lsn()::text end as position, pg_postmaster_start_time()::text as run",
};

export interface Standby extends OnePool {
  /** Its position in DATABASE_REPLICA_URLS, from 1. */
  readonly number: number;
  /** The position known to be replayed. It never decreases, so an old value stays valid. */
  replayed: bigint;
  /** The time, by `performance.now()`, when the primary was at this standby's position; -Infinity if unknown. */
  caughtUpAt: number;
  lost: boolean;
  /** The time, by `performance.now()`, when its connections were closed because they led to another server. */
  leftAt: number;
  /** Start time of its server; the start time at which it was found ahead of the primary, if it was. */
  run: string | undefined;
  strayed: string | undefined;
  /** The pending read of its position. */
  looking: Promise<void> | undefined;
  /** Queries sent to it: those that it answered, and those that the primary had to answer. */
  reads: { answered: number; failed: number };
}

export class Replicas {
  readonly standbys: readonly Standby[];
  /** Queries with a position that no standby could answer, because all were behind or too old. */
  behind = 0;
  readonly #stalest: number;
  /** Past positions of the primary, oldest first: they tell how many milliseconds a standby is behind. */
  #places: { position: bigint; at: number }[] = [];
  readonly #primary: pg.Pool;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  readonly #looking: Promise<void>;

  /**
   * @param urls    one per standby, with the requests' login
   * @param stalest how old answers may be, in milliseconds. (Default: 5,000)
   */
  constructor(urls: readonly string[], primary: pg.Pool, settings: PoolSettings, log: Logger, stalest = 5_000) {
    this.#primary = primary;
    this.#log = log;
    this.#stalest = stalest;
    this.standbys = urls.map((url, index) => ({
      ...createPool("request", url, { ...settings, standby: true }, log),
      number: index + 1,
      reads: { answered: 0, failed: 0 },
      replayed: -1n,
      caughtUpAt: Number.NEGATIVE_INFINITY,
      lost: false,
      leftAt: Number.NEGATIVE_INFINITY,
      run: undefined,
      strayed: undefined,
      looking: undefined,
    }));
    this.#looking = this.#look();
  }

  /**
   * A standby that has replayed the caller's position.
   *
   * @param position as `position()` returned it
   * @param key      calls with the same key stay with the same standby while it keeps up
   * @returns null if no standby has: then the primary answers
   */
  choose(position: bigint, key: string): Standby | null {
    const oldest = performance.now() - this.#stalest;
    const fit = this.standbys.filter(({ replayed, caughtUpAt }) => replayed >= position && caughtUpAt >= oldest);
    const standby = fit[hash(key) % fit.length];
    if (!standby) this.behind++;
    return standby ?? null;
  }

  /** The primary's current position: a standby that has replayed it has everything that was committed before. */
  async position(): Promise<string> {
    const known = this.standbys.map(({ replayed }) => replayed);
    const { rows } = await this.#primary.query<{ position: string }>(ownPosition);
    const position = rows[0]?.position as string;
    this.standbys.forEach((standby, index) => {
      if ((known[index] as bigint) > (readPosition(position) ?? 0n)) this.#refuse(standby);
    });
    return position;
  }

  /**
   * A standby that is ahead of the primary follows another server: one that failed before this standby was repointed, or
   * one that a restore has replaced. It is used again after its server has restarted and follows this primary.
   */
  #refuse(standby: Standby): void {
    standby.strayed = standby.run;
    standby.replayed = -1n;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    await Promise.all(this.standbys.map((standby) => standby.close()));
  }

  async #look(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const at = performance.now();
      const position = await this.position().then(readPosition, () => null);
      const kept = this.#places.filter((place) => place.at >= at - this.#stalest);
      this.#places = position === null ? kept : [...kept, { position, at }];
      // Not awaited: one whose host has vanished answers nothing for seconds, and must not make the others look old.
      for (const standby of this.standbys) {
        standby.looking ??= this.#lookAt(standby).finally(() => {
          standby.looking = undefined;
        });
      }
      await sleep(lookEvery, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  async #lookAt(standby: Standby): Promise<void> {
    let isAnother = false;
    try {
      const { rows } = await standby.pool.query<{ position: string | null; run: string }>(replayed);
      standby.run = rows[0]?.run;
      const position = readPosition(rows[0]?.position ?? undefined);
      isAnother = position === null || standby.run === standby.strayed;
      if (standby.run === standby.strayed) throw new Error("it is ahead of the primary: it follows another server");
      if (position === null) throw new Error("it is not a standby");
      standby.replayed = position;
      const place = this.#places.findLast((place) => place.position <= position);
      if (place) standby.caughtUpAt = place.at;
      if (standby.lost) this.#log.info("a standby answers again");
      standby.lost = false;
    } catch (error) {
      if (!standby.lost && !this.#stopping.signal.aborted) {
        this.#log.warn({ reason: String(error) }, "a standby is not asked; the primary answers its queries");
      }
      standby.lost = true;
      standby.replayed = -1n;
      if (isAnother) await this.#connectAnew(standby);
    }
  }

  /** A promoted server keeps its connections, and the address may lead to a standby now. */
  async #connectAnew(standby: Standby): Promise<void> {
    const { pool, leftAt } = standby;
    if (performance.now() - leftAt < connectEvery) return;
    standby.leftAt = performance.now();
    for (let left = pool.idleCount; left > 0; left--) {
      const client = await pool.connect().catch(() => undefined); // the next look reports it
      client?.release(true);
    }
  }
}

/** @returns the place in the log as a number, or null for an invalid one */
export function readPosition(text: string | undefined): bigint | null {
  const [, high, low] = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i.exec(text ?? "") ?? [];
  return high && low ? (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`) : null;
}

function hash(text: string): number {
  let value = 0;
  for (let index = 0; index < text.length; index++) value = (Math.imul(value, 31) + text.charCodeAt(index)) >>> 0;
  return value;
}
