/**
 * Checks of `svc doctor`: settings under which PostgreSQL can lose committed data, old backups, and clocks that differ.
 * Next hop: `doctor.ts`.
 */
import type pg from "pg";
import { advice, type Finding, ok, wrong } from "./doctor-connections.ts";

const day = 86_400_000;
/** In milliseconds: a backup a day, and some time to take it. */
const fresh = 1.5 * day;

/** @param pool of requests; its login or database may have its own settings */
export async function examineSettings(pool: Pick<pg.Pool, "query">): Promise<Finding[]> {
  const { rows } = await pool.query<{ name: string }>(
    "select name from pg_catalog.pg_settings where name in ('fsync', 'full_page_writes', 'synchronous_commit') " +
      "and setting = 'off' order by 1",
  );
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name).join(", ");
  return [
    advice(`${names}: off. Acknowledged writes may be lost when PostgreSQL or its machine crashes.\n  Switch it on.`),
  ];
}

/** @param pool of the system */
export async function examineBackups(pool: Pick<pg.Pool, "query">): Promise<Finding[]> {
  const { rows } = await pool.query<{ taken_at: Date | null; tried_at: Date | null }>(
    "select * from svc_private.backup_state()",
  );
  const { taken_at: taken = null, tried_at: tried = null } = rows[0] ?? {};
  if (!taken) {
    return [
      advice(
        "No backup by svc db backup is known.\n  Take one every day. If your host copies the database, copy the stored files too.",
      ),
    ];
  }
  const age = Date.now() - taken.getTime();
  const text = `the last backup is of ${taken.toISOString()}, the last trial restore ${tried ? `was at ${tried.toISOString()}` : "is still to come"}`;
  if (age <= fresh) return [ok(text)];
  return [advice(`The last backup is ${Math.round(age / day)} days old.\n  See why svc db backup did not run.`)];
}

/** In milliseconds. */
const largestDifference = 10_000;

/** Sessions and JWTs end by the clocks of both. @param now this machine's. (Default: the system's) */
export async function examineClock(pool: Pick<pg.Pool, "query">, now = Date.now): Promise<Finding[]> {
  const before = now();
  const { rows } = await pool.query<{ now: Date }>("select clock_timestamp() as now");
  const after = now();
  const ahead = (rows[0]?.now.getTime() ?? 0) - (before + after) / 2;
  if (Math.abs(ahead) - (after - before) / 2 < largestDifference) return [];
  const seconds = Math.round(Math.abs(ahead) / 1_000).toLocaleString("en");
  const text =
    `PostgreSQL's clock is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} this machine's: sessions and tokens end at wrong times, ` +
    "and a sign-in may be refused.\n  Set both clocks by NTP.";
  return [wrong(text)];
}
