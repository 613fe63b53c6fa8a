/**
 * All commands, one file each, read when the command is named; the file of a group has its subcommands.
 * Next hop: `command.ts` opens the configuration and the database, `output.ts` prints, `options.ts` checks options.
 */
import { type Definition, defineCommand } from "./define.ts";

const db = defineCommand({
  description: "Look after the database.",
  subCommands: {
    pull: {
      description: "Begin with an existing database: write its tables as the schema and the first migration.",
      file: () => import("./db/pull.ts"),
    },
    drift: {
      description:
        "Compare the database with what migrations/ and sql/ describe. Changes nothing; exit code 1 when they differ.",
      file: () => import("./db/drift.ts"),
    },
    backup: {
      description:
        "Write the database and the stored files of one snapshot into a folder. The service may keep running.",
      file: () => import("./db/backup.ts"),
    },
    restore: {
      description:
        "Restore the application's database and storage from a backup. Refuses a database that is not empty.",
      file: () => import("./db/restore.ts"),
    },
    verify: {
      description: "Compare a backup with its manifest. Exit code 1 when anything is missing or damaged.",
      file: () => import("./db/verify.ts"),
    },
    lint: {
      description: "Find security and performance problems in the schema. Exit code 1 when there is an error.",
      file: () => import("./db/lint.ts"),
    },
    seed: { description: "Insert the rows and users of seed.ts, for development.", file: () => import("./db/seed.ts") },
    slow: {
      description: "List statements by total time. Needs pg_stat_statements.",
      file: () => import("./db/observe.ts").then(({ slow: command }) => ({ command })),
    },
    locks: {
      description: "Show sessions that wait for locks, who blocks them, and transactions that stay open.",
      file: () => import("./db/observe.ts").then(({ locks: command }) => ({ command })),
    },
    stats: {
      description: "Show sizes, dead rows, indexes, replication slots and reads from memory.",
      file: () => import("./db/observe.ts").then(({ stats: command }) => ({ command })),
    },
    explain: {
      description: "Show the plan of a statement for a user, with its problems.",
      file: () => import("./db/explain.ts"),
    },
    psql: {
      description: "Open psql with the rights of a user. Arguments after -- are passed to psql.",
      file: () => import("./db/psql.ts"),
    },
  },
});

const migrate = defineCommand({
  description: "Apply new files of migrations/ and sql/.",
  default: "apply",
  subCommands: {
    apply: {
      description: "Apply new files of migrations/ and sql/, as `svc migrate` alone does.",
      file: () => import("./migrate.ts"),
    },
    generate: { description: "Write the next migration from the schema.", file: () => import("./migrate-generate.ts") },
    status: {
      description: "List what is applied, pending or edited. Exit code 1 unless all is applied.",
      file: () => import("./migrate-status.ts"),
    },
    reset: {
      description: "Development: drop everything in the database and migrate again.",
      file: () => import("./migrate-reset.ts"),
    },
  },
});

const rls = defineCommand({
  description: "Explain row-level security.",
  subCommands: {
    explain: {
      description: "Which policies admit or hide a table's rows for a user, and why.",
      file: () => import("./rls/explain.ts"),
    },
  },
});

export const svc: Definition = defineCommand({
  description: "A backend in which PostgreSQL does the work.",
  headings: {
    Development: ["init", "dev", "prepare", "codegen", "openapi", "dry-run", "doctor", "mcp", "completion"],
    Service: ["start", "worker", "logs", "jobs", "crons", "workflows", "webhooks", "keys", "secrets", "ai", "studio"],
    Database: ["migrate", "db", "policies", "rls"],
    Data: ["data", "audit", "storage", "search", "convert"],
  },
  subCommands: {
    init: { description: "Make a new application from the starter.", file: () => import("./init.ts") },
    dev: { description: "Serve, and reload after every change.", file: () => import("./dev.ts") },
    prepare: { description: "Generate, and bring the database up to date.", file: () => import("./prepare.ts") },
    codegen: { description: "Generate files from the definitions.", file: () => import("./codegen.ts") },
    openapi: { description: "Write the OpenAPI 3.1 document of the application.", file: () => import("./openapi.ts") },
    "dry-run": {
      description: "Run a query or mutation as a user, show what it would do, and roll it back.",
      file: () => import("./dry-run.ts"),
    },
    doctor: { description: "Check the setup for problems.", file: () => import("./doctor.ts") },
    mcp: {
      description: "Serve tools that only read to a coding agent, by the Model Context Protocol.",
      file: () => import("./mcp.ts"),
    },
    completion: {
      description: "Complete svc's commands and options in your shell.",
      file: () => import("./completion.ts").then((file) => ({ command: file.makeCompletion(svc) })),
    },
    start: { description: "Serve the application.", file: () => import("./start.ts") },
    worker: { description: "Run jobs, crons and workflows.", file: () => import("./worker.ts") },
    logs: {
      description: "Show the log from standard input or a file, filtered by the options.",
      file: () => import("./logs.ts"),
    },
    jobs: {
      description: "Look at the queue and at finished jobs; retry or cancel jobs.",
      file: () => import("./jobs.ts"),
    },
    keys: { description: "List and revoke the API keys of users.", file: () => import("./keys.ts") },
    crons: { description: "Look at crons; run one now, pause or resume it.", file: () => import("./crons.ts") },
    workflows: {
      description: "Look at runs of workflows; retry or cancel them.",
      file: () => import("./workflows.ts"),
    },
    webhooks: {
      description: "Look at what webhooks deliver; send dead deliveries again.",
      file: () => import("./webhooks.ts"),
    },
    secrets: { description: "Rotate the secrets in AUTHLIB_SECRET.", file: () => import("./secrets.ts") },
    ai: { description: "Show the cost of AI calls and paid conversions.", file: () => import("./ai.ts") },
    studio: {
      description: "Open a page to look at the data, the policies and the queue.",
      file: () => import("./studio.ts"),
    },
    migrate,
    db,
    policies: { description: "Who may do what to which rows.", file: () => import("./policies.ts") },
    rls,
    data: { description: "Export and import rows.", file: () => import("./data.ts") },
    audit: {
      description: "Show what changed in audited tables, and who changed it.",
      file: () => import("./audit.ts"),
    },
    storage: {
      description: "Look at stored files; verify their bytes; remove unused bytes.",
      file: () => import("./storage.ts"),
    },
    search: {
      description: "Find rows by keyword, and explain a ranking term by term.",
      file: () => import("./search.ts"),
    },
    convert: {
      description: "Print a document (PDF, HWP, DOCX, XLSX, HTML, CSV, text) as Markdown.",
      file: () => import("./convert.ts"),
    },
  },
});
