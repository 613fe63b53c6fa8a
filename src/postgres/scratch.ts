/** A database that is made to look at and is gone afterwards, whatever happens in between. */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { DefinitionError } from "../define/definition-error.ts";

/**
 * Makes an empty database on the same server, and drops it when `work` ends or the process is told to stop.
 *
 * @param adminUrl an administrator's address; DATABASE_SCRATCH_URL names an empty database to use instead
 * @throws DefinitionError when the administrator may not create databases
 */
export async function withScratchDatabase<T>(adminUrl: string, work: (url: string) => Promise<T>): Promise<T> {
  const given = process.env.DATABASE_SCRATCH_URL;
  if (given) return work(given);

  const admin = new pg.Client({ connectionString: adminUrl, application_name: "svc scratch database" });
  await admin.connect();
  const name = `svc_scratch_${process.pid}_${randomBytes(4).toString("hex")}`;
  const drop = () => admin.query(`drop database if exists ${name} with (force)`);
  const stop = (signal: NodeJS.Signals) => void drop().finally(() => process.kill(process.pid, signal));
  try {
    // template0: what a host put into template1 is none of the files' doing.
    await admin.query(`create database ${name} template template0`).catch(explainRefusal);
    for (const signal of signals) process.once(signal, stop);
    const url = new URL(adminUrl);
    url.pathname = `/${name}`;
    return await work(url.href);
  } finally {
    for (const signal of signals) process.off(signal, stop);
    await drop();
    await admin.end();
  }
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function explainRefusal(error: unknown): never {
  if ((error as pg.DatabaseError).code !== "42501") throw error;
  throw new DefinitionError("The administrator of this database may not create another one to compare with.", {
    hint: "Name an empty database on the same server in DATABASE_SCRATCH_URL; nothing is left in it.",
  });
}
