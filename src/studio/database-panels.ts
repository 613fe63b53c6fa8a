/**
 * Home's findings and the panels Storage, Realtime, AI, DBA, Migrations and Backups. What needs wider logins than Studio's is a
 * command of `svc`, in a process of its own.
 * Next hop: `sql/studio/studio_figures.sql`; `src/cli/studio.ts` runs the commands.
 */
import { z } from "zod";
import { panel } from "./panel.ts";

const none = z.strictObject({});

/** The commands `svc db` of the panel DBA; they only read. */
const looks = z.enum(["lint", "drift", "slow", "locks", "stats"]);

const figures = "select * from svc_private.studio_figures() where metric like $1";

export const databasePanels = {
  doctor: panel(none, (_, { command }) => command("doctor")),
  migrations: panel(none, (_, { command }) => command("migrate", "status")),
  backups: panel(none, (_, { ask }) => ask("select * from svc_private.studio_backups(20)")),
  database: panel(z.strictObject({ what: looks }), ({ what }, { command }) => command("db", what)),
  storage: panel(none, async (_, { ask }) => ({
    figures: await ask(figures, ["storage%"]),
    buckets: await ask("select * from svc_private.studio_storage(50)"),
  })),
  realtime: panel(none, async (_, { ask }) => (await ask("select svc_private.studio_realtime() as it"))[0].it),
  usage: panel(z.strictObject({ days: z.int().min(1).max(366) }), async ({ days }, { ask }) => ({
    figures: await ask(figures, ["ai%"]),
    rows: await ask("select * from svc_private.studio_usage($1, 200)", [days]),
  })),
};
