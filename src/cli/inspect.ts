/**
 * What the commands share that let an operator look at the queue, at runs and at files: a connection as svc_system,
 * options with their checks, and following what changes.
 * Next hop: `jobs.ts` for an example; `table.ts` for what is printed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { openDatabase, readConfig } from "./command.ts";
import { stopSignals } from "./signal.ts";
import { printable } from "./table.ts";

export const limitArgument = {
  limit: { type: "string", description: "Rows at most. (Default: 50)", default: "50" },
} as const;

/**
 * A pool for one command. Its idle connections may break: those of a private cluster do when it stops with the command, for
 * `end()` does not wait until the server has heard of it. Without a listener that would end the process with an error.
 *
 * @param name the connections' application_name
 */
export function commandPool(connectionString: string, name: string, max = 1): pg.Pool {
  const pool = new pg.Pool({ connectionString, max, application_name: name });
  pool.on("error", () => {});
  return pool;
}

/**
 * Connects as svc_system, which row-level security does not bind, for as long as `work` takes.
 *
 * @param cwd the application's folder
 */
export async function withSystem(
  cwd: string,
  work: (pool: pg.Pool, config: EffectiveConfig) => Promise<void>,
): Promise<void> {
  const config = await readConfig(cwd);
  const cluster = await openDatabase(config, { logins: "serving" });
  const pool = commandPool(cluster.urls.system, "svc command", 2);
  try {
    await work(pool, config);
  } finally {
    await pool.end();
    await cluster.stop();
  }
}

/** The id of whoever `--as` names. @param text an id or an e-mail address @throws DefinitionError when there is nobody */
export async function findUser(pool: pg.Pool, text: string): Promise<string> {
  const { rows } = await pool.query('select id from auth."user" where id = $1 or email = lower($1)', [text]);
  if (rows[0]) return rows[0].id;
  throw new DefinitionError(`There is no user ${text}.`, { hint: "--as takes an id or an e-mail address." });
}

/** More rows, or days, than anybody reads. */
const most = 1_000_000;

/** @throws DefinitionError when it is none from `least` on */
export function wholeNumber(option: string, text: string, least = 1): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new DefinitionError(`--${option} ${text} is not a whole number from ${least} to ${most}.`);
}

/** @returns null for an option that was not given @throws DefinitionError when it is none of those known */
export function oneOf(option: string, text: string | undefined, known: readonly string[]): string | null {
  if (text === undefined) return null;
  if (known.includes(text)) return text;
  throw new DefinitionError(`--${option} ${text} is unknown.`, { hint: `There are: ${known.join(", ")}.` });
}

/** A row as `follow` compares it: when `state` differs from the last look, `line` is printed. */
export interface Followed {
  id: string;
  state: string;
  line: string;
}

/**
 * Looks once a second, which is as often as a person reads, until Ctrl+C. What is there at the beginning is not printed.
 *
 * @param look the newest first
 * @param gone what to print for a row that is not there any more; without it nothing is
 */
export async function follow(look: () => Promise<Followed[]>, gone?: (id: string) => string): Promise<void> {
  const known = new Map<string, string>();
  const stop = new AbortController();
  for (const signal of stopSignals) process.once(signal, () => stop.abort());
  for (let first = true; !stop.signal.aborted; first = false) {
    const rows = await look();
    for (const { id, state, line } of rows.toReversed()) {
      if (!first && known.get(id) !== state) process.stdout.write(`${printable(line)}\n`);
      known.set(id, state);
    }
    const present = new Set(rows.map(({ id }) => id));
    for (const id of [...known.keys()].filter((one) => !present.has(one))) {
      known.delete(id);
      if (gone && rows.length < mostFollowed) process.stdout.write(`${gone(id)}\n`);
    }
    await sleep(1_000, undefined, { signal: stop.signal }).catch(() => {});
  }
}

/** With as many rows as this, one that is missing may only be beyond the last. */
export const mostFollowed = 1_000;
