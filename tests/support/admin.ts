/** What tests do as the administrator: databases come and go. */
import pg from "pg";

/** One per run: two runs at once on one machine must not clone each other's. */
export const templateName = () => `svc_template_${process.env.SVC_TEST_RUN}`;

/** The same server and login, another database. */
export function inDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs statements one after the other, each in its own transaction. */
export async function execute(url: string, ...statements: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}
