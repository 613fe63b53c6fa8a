/**
 * Breaks connections whose server has vanished. A host that loses its power or its network closes no connection, and the kernel
 * sends a statement again for a quarter of an hour before it reports an error. PostgreSQL ends a statement at its limit; a
 * connection that has no answer for longer leads nowhere. The system pool has no such limit: the platform's own statements there
 * are short, and `unlimited` is for those of applications. A statement there ends with the kernel's limits: 20 s after the host
 * has vanished by `keepAlive`, which does not ask while a sent statement is not acknowledged. A statement that was sent to a
 * vanished host ends after Linux's retransmissions, about a quarter of an hour. Called by `pools.ts`.
 */
import type pg from "pg";
import { innerOf, wireOf } from "./driver.ts";
import { queryKeeping } from "./refusals.ts";

/**
 * In milliseconds: after this time without a packet the kernel asks whether the host is still there, ten times a second apart.
 * Its default is two hours. This finds vanished hosts on connections that wait for nothing, such as those that listen.
 */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * SQL: the server looks for this client in the same way, also while a statement runs, where its platform can. The logins of
 * svc have it from `sql/roles.sql`.
 */
export const watchClient = `set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;
  do $$ begin set client_connection_check_interval = 5000; exception when invalid_parameter_value then null; end $$`;

/** In milliseconds, beyond the server's own limit. */
const margin = 5_000;

/** How long an answer may take, in milliseconds; 0 for ever, if the limit is switched off. */
export const silenceAllowed = ({ statementTimeoutMs }: { statementTimeoutMs: number }): number =>
  statementTimeoutMs && statementTimeoutMs + margin;

/** Breaks a connection at once, without the Terminate message of `end`: a statement fails, and the server need not answer. */
export const breakConnection = (client: pg.ClientBase): void => void wireOf(client).stream.destroy();

/**
 * Breaks a connection that has no answer for too long. Called once for each. When this process was stopped meanwhile, as its
 * machine was, the timer runs out before the answer that waits is read: so that is read first.
 */
export function breakIfSilent(client: pg.ClientBase, milliseconds: number): void {
  const { stream } = wireOf(client);
  stream.setTimeout(milliseconds);
  stream.on("timeout", () => {
    const { bytesRead } = stream;
    setImmediate(() => {
      if (stream.bytesRead === bytesRead && !innerOf(client).readyForQuery) stream.destroy(silent(stream.timeout));
    });
  });
}

/** In milliseconds. */
const endsWithin = 1_000;

/** Ends a connection. If the server does not close it too, because it has vanished, breaks it: `end` would wait. */
export async function endOrBreak(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => breakConnection(client), endsWithin);
  await client.end().catch(() => {}); // it was broken already
  clearTimeout(timer);
}

/** With the code of the kernel's own error. */
const silent = (milliseconds = 0) =>
  Object.assign(new Error(`PostgreSQL has not answered for ${milliseconds / 1000} s`), { code: "ETIMEDOUT" });

/** The pool for statements that may take any time, such as those of `unsafeDb`. */
export function unlimited(pool: pg.Pool): pg.Pool {
  const connect = async () => {
    const client = await pool.connect();
    const { release } = client;
    const { stream } = wireOf(client);
    const { timeout = 0 } = stream;
    stream.setTimeout(0);
    client.release = (destroy) => {
      stream.setTimeout(timeout);
      release(destroy);
    };
    return client;
  };
  const patient: pg.Pool = Object.create(pool);
  return Object.assign(patient, { connect, query: queryKeeping(patient) });
}
