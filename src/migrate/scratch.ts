/** A temporary database that is always dropped afterwards. */
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { withClient } from "../postgres/with-client.ts";

/**
 * Creates an empty database on the same server, and drops it when `work` ends or the process is stopped.
 *
 * @param adminUrl an administrator's connection string
 * @param given    an empty database to use instead; `work` must leave it empty
 * @throws DefinitionError when the administrator may not create databases, or the given one is not empty
 */
export async function withScratchDatabase<T>(
  adminUrl: string,
  given: string | null,
  work: (url: string) => Promise<T>,
): Promise<T> {
  if (given !== null) {
    await refuseUsed(given);
    return work(given);
  }
  return withTemporaryDatabase(adminUrl, "svc_scratch", explainRefusal, work);
}

/**
 * @param prefix of the database's name
 * @param refuse throws the error for a database that could not be created
 */
export function withTemporaryDatabase<T>(
  adminUrl: string,
  prefix: string,
  refuse: (error: pg.DatabaseError) => never,
  work: (url: string) => Promise<T>,
): Promise<T> {
  return withClient(adminUrl, "svc temporary database", async (admin) => {
    const name = `${prefix}_${process.pid}_${randomBytes(4).toString("hex")}`;
    const drop = () => admin.query(`drop database if exists ${name} with (force)`);
    const stop = (signal: NodeJS.Signals) => void drop().finally(() => process.kill(process.pid, signal));
    for (const signal of signals) process.once(signal, stop);
    try {
      // template0, because a host may have added objects to template1.
      await admin.query(`create database ${name} template template0`).catch(refuse);
      const url = new URL(adminUrl);
      url.pathname = `/${name}`;
      return await work(url.href);
    } finally {
      await drop().finally(() => {
        for (const signal of signals) process.off(signal, stop);
      });
    }
  });
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Existing objects would be mistaken for objects of the files. @throws DefinitionError when there are any */
export async function refuseUsed(url: string): Promise<void> {
  return withClient(url, "svc scratch database", async (client) => {
    const { rows } = await client.query(
      `select nspname from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'public')
       union all select relname from pg_class where relnamespace = to_regnamespace('public') limit 1`,
    );
    if (rows.length === 0) return;
    throw new DefinitionError("The database that DATABASE_SCRATCH_URL names is not empty.", {
      hint: "Create one only for this: create database svc_scratch template template0.",
    });
  });
}

function explainRefusal(error: pg.DatabaseError): never {
  if (error.code !== "42501") throw error;
  throw new DefinitionError("The administrator of this database may not create another one to compare with.", {
    hint: "Name an empty database on the same server in DATABASE_SCRATCH_URL; nothing is left in it.",
  });
}
