/** One connection of its own, for commands. Calls use pools: `pools.ts`. */
import pg from "pg";
import { keepAlive } from "./silence.ts";

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
    return await work(client);
  } finally {
    await client.end();
  }
}
