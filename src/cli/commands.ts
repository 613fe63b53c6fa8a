/**
 * All commands, one file each; the file of a group lists its subcommands.
 * Next hop: `command.ts` opens the configuration and the database, `output.ts` prints, `options.ts` checks options.
 */
import { type Definition, defineCommand } from "./define.ts";

export const svc: Definition = defineCommand({
  meta: { name: "svc", description: "A backend in which PostgreSQL does the work." },
  headings: {
    Development: ["init", "dev", "prepare", "codegen", "openapi", "dry-run", "doctor", "completion"],
    Service: ["start", "worker", "logs", "jobs", "crons", "workflows", "secrets", "ai", "studio"],
    Database: ["migrate", "db", "policies", "rls"],
    Data: ["data", "storage", "search", "convert"],
  },
  subCommands: {
    init: () => import("./init.ts").then((file) => file.initCommand),
    dev: () => import("./dev.ts").then((file) => file.dev),
    prepare: () => import("./prepare.ts").then((file) => file.prepareCommand),
    codegen: () => import("./codegen.ts").then((file) => file.codegenCommand),
    openapi: () => import("./openapi.ts").then((file) => file.openapiCommand),
    "dry-run": () => import("./dry-run.ts").then((file) => file.dryRunCommand),
    doctor: () => import("./doctor.ts").then((file) => file.doctorCommand),
    completion: () => import("./completion.ts").then((file) => file.makeCompletion(svc)),
    start: () => import("./start.ts").then((file) => file.start),
    worker: () => import("./worker.ts").then((file) => file.workerCommand),
    logs: () => import("./logs.ts").then((file) => file.logsCommand),
    jobs: () => import("./jobs.ts").then((file) => file.jobsCommand),
    crons: () => import("./crons.ts").then((file) => file.cronsCommand),
    workflows: () => import("./workflows.ts").then((file) => file.workflowsCommand),
    secrets: () => import("./secrets.ts").then((file) => file.secretsCommand),
    ai: () => import("./ai.ts").then((file) => file.aiCommand),
    studio: () => import("./studio.ts").then((file) => file.studioCommand),
    migrate: () => import("./migrate.ts").then((file) => file.migrateCommand),
    db: () => import("./db/db.ts").then((file) => file.dbCommand),
    policies: () => import("./policies.ts").then((file) => file.policiesCommand),
    rls: () => import("./rls/rls.ts").then((file) => file.rlsCommand),
    data: () => import("./data.ts").then((file) => file.dataCommand),
    storage: () => import("./storage.ts").then((file) => file.storageCommand),
    search: () => import("./search.ts").then((file) => file.searchCommand),
    convert: () => import("./convert.ts").then((file) => file.convertCommand),
  },
});
