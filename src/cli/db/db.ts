/** `svc db`: tools for whoever looks after the database. One file per subcommand. */
import { defineCommand } from "citty";

export const dbCommand = defineCommand({
  meta: { name: "db", description: "Look after the database." },
  subCommands: {
    drift: () => import("./drift.ts").then((file) => file.dbDrift),
    lint: () => import("./lint.ts").then((file) => file.dbLint),
  },
});
