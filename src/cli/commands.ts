/**
 * All commands, one file each, read when the command is named; the file of a group has its subcommands.
 * Next hop: `command.ts` opens the configuration and the database, `output.ts` prints, `options.ts` checks options.
 */
import { type Definition, defineCommand, later } from "./define.ts";

const db = defineCommand({
  description: "Look after the database.",
  subCommands: {
    pull: later(
      "Begin with an existing database: write its tables as the schema and the first migration.",
      () => import("./db/pull.ts"),
    ),
    drift: later(
      "Compare the database with what migrations/ and sql/ describe. Changes nothing; exit code 1 when they differ.",
      () => import("./db/drift.ts"),
    ),
    backup: later(
      "Write the database and the stored files of one snapshot into a folder. The service may keep running.",
      () => import("./db/backup.ts"),
    ),
    restore: later(
      "Restore the application's database and storage from a backup. Refuses a database that is not empty.",
      () => import("./db/restore.ts"),
    ),
    verify: later(
      "Compare a backup with its manifest. Exit code 1 when anything is missing or damaged.",
      () => import("./db/verify.ts"),
    ),
    lint: later(
      "Find security and performance problems in the schema. Exit code 1 when there is an error.",
      () => import("./db/lint.ts"),
    ),
    seed: later("Insert the rows and users of seed.ts, for development.", () => import("./db/seed.ts")),
    slow: later("List statements by total time. Needs pg_stat_statements.", () =>
      import("./db/observe.ts").then(({ slow: command }) => ({ command })),
    ),
    locks: later("Show sessions that wait for locks, who blocks them, and transactions that stay open.", () =>
      import("./db/observe.ts").then(({ locks: command }) => ({ command })),
    ),
    stats: later("Show sizes, dead rows, indexes, replication slots and reads from memory.", () =>
      import("./db/observe.ts").then(({ stats: command }) => ({ command })),
    ),
    explain: later("Show the plan of a statement for a user, with its problems.", () => import("./db/explain.ts")),
    psql: later(
      "Open psql with the rights of a user. Arguments after -- are passed to psql.",
      () => import("./db/psql.ts"),
    ),
  },
});

const migrate = defineCommand({
  description: "Apply new files of migrations/ and sql/.",
  default: "apply",
  subCommands: {
    apply: later("Apply new files of migrations/ and sql/, as `svc migrate` alone does.", () => import("./migrate.ts")),
    generate: later("Write the next migration from the schema.", () => import("./migrate-generate.ts")),
    status: later(
      "List what is applied, pending or edited. Exit code 1 unless all is applied.",
      () => import("./migrate-status.ts"),
    ),
    reset: later("Development: drop everything in the database and migrate again.", () => import("./migrate-reset.ts")),
  },
});

const rls = defineCommand({
  description: "Explain row-level security.",
  subCommands: {
    explain: later(
      "Which policies admit or hide a table's rows for a user, and why.",
      () => import("./rls/explain.ts"),
    ),
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
    init: later("Make a new application from the starter.", () => import("./init.ts")),
    dev: later("Serve, and reload after every change.", () => import("./dev.ts")),
    prepare: later("Generate, and bring the database up to date.", () => import("./prepare.ts")),
    codegen: later("Generate files from the definitions.", () => import("./codegen.ts")),
    openapi: later("Write the OpenAPI 3.1 document of the application.", () => import("./openapi.ts")),
    "dry-run": later(
      "Run a query or mutation as a user, show what it would do, and roll it back.",
      () => import("./dry-run.ts"),
    ),
    doctor: later("Check the setup for problems.", () => import("./doctor.ts")),
    mcp: later(
      "Serve tools that only read to a coding agent, by the Model Context Protocol.",
      () => import("./mcp.ts"),
    ),
    completion: later("Complete svc's commands and options in your shell.", () =>
      import("./completion.ts").then((file) => ({ command: file.makeCompletion(svc) })),
    ),
    start: later("Serve the application.", () => import("./start.ts")),
    worker: later("Run jobs, crons and workflows.", () => import("./worker.ts")),
    logs: later("Show the log from standard input or a file, filtered by the options.", () => import("./logs.ts")),
    jobs: later("Look at the queue and at finished jobs; retry or cancel jobs.", () => import("./jobs.ts")),
    keys: later("List and revoke the API keys of users.", () => import("./keys.ts")),
    crons: later("Look at crons; run one now, pause or resume it.", () => import("./crons.ts")),
    workflows: later("Look at runs of workflows; retry or cancel them.", () => import("./workflows.ts")),
    webhooks: later("Look at what webhooks deliver; send dead deliveries again.", () => import("./webhooks.ts")),
    secrets: later("Rotate the secrets in AUTHLIB_SECRET.", () => import("./secrets.ts")),
    ai: later("Show the cost of AI calls and paid conversions.", () => import("./ai.ts")),
    studio: later("Open a page to look at the data, the policies and the queue.", () => import("./studio.ts")),
    migrate,
    db,
    policies: later("Who may do what to which rows.", () => import("./policies.ts")),
    rls,
    data: later("Export and import rows.", () => import("./data.ts")),
    audit: later("Show what changed in audited tables, and who changed it.", () => import("./audit.ts")),
    storage: later("Look at stored files; verify their bytes; remove unused bytes.", () => import("./storage.ts")),
    search: later("Find rows by keyword, and explain a ranking term by term.", () => import("./search.ts")),
    convert: later(
      "Print a document (PDF, HWP, DOCX, XLSX, HTML, CSV, text) as Markdown.",
      () => import("./convert.ts"),
    ),
  },
});
