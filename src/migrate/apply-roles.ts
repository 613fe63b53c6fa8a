/** `sql/roles.sql` within a transaction: for migrations, and for a restored database on a server without the roles. */
import type pg from "pg";

// Roles belong to the server, locks to one database of it: who applies them to two databases meets here. The second waits
// for the first's transaction and then fails: "tuple concurrently updated", which has no code of its own, a unique
// violation, or a role that exists by now. Each failure means that another one has finished.
const overtaken = new Set(["XX000", "23505", "42710"]);
const maxAttempts = 100;

/** @throws DatabaseError for what is no other one's work; the transaction is then to be rolled back */
export async function applyRoles(client: pg.ClientBase, text: string): Promise<void> {
  await client.query("savepoint roles");
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query(text);
      return;
    } catch (error) {
      if (attempt === maxAttempts || !overtaken.has((error as pg.DatabaseError).code ?? "")) throw error;
      await client.query("rollback to savepoint roles");
    }
  }
}
