/** One connection of its own, for commands. Calls use pools: `pools.ts`. */
import pg from "pg";
import { endOrBreak, keepAlive, watchClient } from "./silence.ts";

/** Settings that statements of commands rely on, whatever the defaults of the server or the database are. */
const plain = [
  "set timezone = 'UTC'",
  "set datestyle = 'ISO, MDY'",
  "set intervalstyle = 'postgres'",
  "set bytea_output = 'hex'",
  "set extra_float_digits = 1",
  "set standard_conforming_strings = on",
  "set row_security = on",
  "set quote_all_identifiers = off",
  "set default_transaction_isolation = 'read committed'",
  "set idle_session_timeout = 0", // between two attempts of a migration, or beside a trial restore
  watchClient,
].join("; ");

/**
 * Connects while `work` runs. A transaction that is still open at the end is rolled back.
 *
 * @param name the connection's application_name
 * @throws errors of the connection and of `work`
 */
export async function withClient<Result>(
  connectionString: string,
  name: string,
  work: (client: pg.Client) => Promise<Result>,
  settings: pg.ClientConfig = {},
): Promise<Result> {
  const client = new pg.Client({
    connectionString,
    application_name: name,
    connectionTimeoutMillis: 10_000,
    ...keepAlive,
    ...settings,
  });
  client.on("error", () => {}); // the interrupted query reports it
  try {
    await client.connect();
    await client.query(plain);
    return await work(client);
  } finally {
    await endOrBreak(client);
  }
}
