/** Applies `sql/roles.sql` within a transaction: for migrations, and when restoring to a server without the roles. */
import type pg from "pg";

// Roles belong to the server, but locks to one database, so two databases can apply roles at the same time. The second
// one waits for the first's transaction and then fails: "tuple concurrently updated", which has no code of its own, a
// unique violation, or a role that already exists. Each failure means that the other one has finished.
const overtaken = new Set(["XX000", "23505", "42710"]);
const maxAttempts = 100;

/** @throws DatabaseError for errors that another migrator did not cause; the caller must then roll back */
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
