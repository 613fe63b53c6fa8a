/** All commands, one file per subcommand. Each reports the result and the next step. */
import { defineCommand } from "citty";
import { version } from "./version.ts";

export const svc = defineCommand({
  meta: { name: "svc", version, description: "A backend in which PostgreSQL does the work." },
  subCommands: {
    init: () => import("./init.ts").then((file) => file.initCommand),
    dev: () => import("./dev.ts").then((file) => file.dev),
    start: () => import("./start.ts").then((file) => file.start),
    workflows: () => import("./workflows.ts").then((file) => file.workflowsCommand),
    logs: () => import("./logs.ts").then((file) => file.logsCommand),
    jobs: () => import("./jobs.ts").then((file) => file.jobsCommand),
    storage: () => import("./storage.ts").then((file) => file.storageCommand),
    secrets: () => import("./secrets.ts").then((file) => file.secretsCommand),
    worker: () => import("./worker.ts").then((file) => file.workerCommand),
    db: () => import("./db/db.ts").then((file) => file.dbCommand),
    policies: () => import("./policies.ts").then((file) => file.policiesCommand),
    rls: () => import("./rls/rls.ts").then((file) => file.rlsCommand),
    migrate: () => import("./migrate.ts").then((file) => file.migrateCommand),
    codegen: () => import("./codegen.ts").then((file) => file.codegenCommand),
    openapi: () => import("./openapi.ts").then((file) => file.openapiCommand),
    ai: () => import("./ai.ts").then((file) => file.aiCommand),
    convert: () => import("./convert.ts").then((file) => file.convertCommand),
    search: () => import("./search.ts").then((file) => file.searchCommand),
    doctor: () => import("./doctor.ts").then((file) => file.doctorCommand),
    prepare: () => import("./prepare.ts").then((file) => file.prepareCommand),
  },
});
