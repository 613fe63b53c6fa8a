/** Reads that say on which backend they ran, for tests of connections that reads share. */
import { pino } from "pino";
import { expect } from "vitest";
import { type Identity, identityOfUser } from "../../src/postgres/identity.ts";
import { sendStatement } from "../../src/postgres/packet.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { runPacket } from "../../src/postgres/shared-reads.ts";

/** Connections of a pool. */
export const size = 8;

const limits = { system: 1, auth: 1, waitMs: 60_000, statementTimeoutMs: 60_000, idleInTransactionMs: 60_000 };

export const open = (url: string, perCaller = size, connections = size, waitMs = limits.waitMs): OnePool =>
  createPool("request", url, { ...limits, request: connections, perCaller, waitMs }, pino({ level: "silent" }));

export const as = (userId: string, holder = userId): Identity => identityOfUser(userId, holder);

/** What the reads need: callers may not take advisory locks themselves. */
export const waitForLock = `
  create function svc_crud.wait_for_lock() returns text security definer language sql
    as 'select pg_advisory_xact_lock_shared(35)::text';
  grant execute on function svc_crud.wait_for_lock to svc_request`;

/** Who asks, on which backend, what was asked. With `waits` it waits until nobody has the lock. */
const text = `
  select json_build_array(pg_backend_pid(), current_setting('svc.user_id'), $3::text, 1 / $4::int, pg_sleep($5::float)::text,
    case when $6::bool then svc_crud.wait_for_lock() end)::text
  from (select set_config('svc.user_id', $1, true) as a, set_config('role', $2, true) as b offset 0) as entered
  where a is not null and b is not null`;

const usual = { identity: as("ann"), name: "who", question: "?", divisor: 1, seconds: 0, waits: false };
/** `shares`: whether it may share a connection. (Default: yes) */
export type Question = Partial<typeof usual> & { shares?: boolean };

/** `sent`: how often it was sent up to now. One that has joined a slow read is sent again. */
export async function readOn({ pool }: OnePool, { shares = true, ...asked }: Question = {}) {
  const { identity, name, question, divisor, seconds, waits } = { ...usual, ...asked };
  const values = [identity.setting, identity.role, question, divisor, String(seconds), String(waits)];
  let sent = 0;
  const json = await runPacket(pool, identity, shares ? [name] : [], (client) => {
    sent++;
    return sendStatement(client, { name, text, values });
  });
  const [backend, user, answered] = JSON.parse(json ?? "");
  return {
    backend: backend as number,
    user: user as string,
    answered: answered as string,
    get sent() {
      return sent;
    },
  };
}

export const isReturned = ({ pool }: OnePool) => pool.idleCount === pool.totalCount && pool.waitingCount === 0;

/** All connections know the statements, and the last answers were quick. */
export async function prepare(on: OnePool, names = ["who"]): Promise<void> {
  for (const name of names) {
    const somebody = Array.from({ length: size }, (_, index) => as(`somebody ${index}`));
    await Promise.all(somebody.map((identity) => readOn(on, { name, identity, seconds: 0.1, shares: false })));
    await expect.poll(() => isReturned(on)).toBe(true);
    await readOn(on, { name });
  }
}
