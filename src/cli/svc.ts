#!/usr/bin/env node
/** The `svc` command. One file per subcommand; each says what it did and how to go on. */
import "./fast-imports.ts";
import { defineCommand, runMain } from "citty";

const major = Number(process.versions.node.split(".")[0]);
if (major < 22) {
  process.stderr.write(`svc needs Node 22.18 or newer; this is ${process.version}. Run it through npm: npm start.\n`);
  process.exit(1);
}

await runMain(
  defineCommand({
    meta: { name: "svc", description: "A backend in which PostgreSQL does the work." },
    subCommands: {
      start: () => import("./start.ts").then((file) => file.start),
      dev: () => import("./dev.ts").then((file) => file.dev),
      migrate: () => import("./migrate.ts").then((file) => file.migrateCommand),
      codegen: () => import("./codegen.ts").then((file) => file.codegenCommand),
    },
  }),
);
