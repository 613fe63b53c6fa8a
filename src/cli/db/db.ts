/** `svc db`: tools for database administration. One file per subcommand. */
import { defineCommand } from "../define.ts";

export const dbCommand = defineCommand({
  meta: { name: "db", description: "Look after the database." },
  subCommands: {
    drift: () => import("./drift.ts").then((file) => file.dbDrift),
    backup: () => import("./backup.ts").then((file) => file.dbBackup),
    restore: () => import("./restore.ts").then((file) => file.dbRestore),
    verify: () => import("./verify.ts").then((file) => file.dbVerify),
    lint: () => import("./lint.ts").then((file) => file.dbLint),
    seed: () => import("./seed.ts").then((file) => file.dbSeed),
    slow: () => import("./observe.ts").then((file) => file.dbSlow),
    locks: () => import("./observe.ts").then((file) => file.dbLocks),
    stats: () => import("./observe.ts").then((file) => file.dbStats),
    explain: () => import("./explain.ts").then((file) => file.dbExplain),
    psql: () => import("./psql.ts").then((file) => file.dbPsql),
  },
});
