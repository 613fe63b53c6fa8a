/**
 * What --help adds to the declarations: examples, exit codes and docs pages. tests/structure fails for a command
 * without an example here.
 */

type ByCommand<T> = Readonly<Record<string, T>>;

/** Command lines with their purposes, by the command's words. */
export const examples: ByCommand<readonly (readonly [line: string, purpose: string])[]> = {
  init: [
    ["svc init my-app", "Makes it in ./my-app, and installs its packages."],
    ["svc init my-app --template react", "With React; `next` is the third template."],
    ["svc init my-app --packages ../packages", "Takes svc's own packages from a folder."],
  ],
  dev: [['svc dev --with "vite"', "With the frontend's dev server."]],
  prepare: [["svc prepare", "What `svc dev` does before it serves."]],
  codegen: [["svc codegen", "Before a commit; needs no database."]],
  openapi: [["svc openapi > openapi.json", "For a client generator."]],
  "dry-run": [
    [`svc dry-run tasks.remove --as ann@example.com --input '{"id":7}'`, "What the call would answer and change."],
  ],
  doctor: [["svc doctor --verbose", "With the configuration in effect; changes nothing."]],
  mcp: [
    ["svc mcp", "Started by the agent, which writes to its standard input and reads from its standard output."],
    ["svc mcp --http", "What an agent's configuration needs to ask the Studio of svc dev instead."],
  ],
  "completion bash": [["svc completion bash > ~/.svc-completion", "Then, in ~/.bashrc: source ~/.svc-completion."]],
  "completion zsh": [["svc completion zsh > ~/.svc-completion", "Then, in ~/.zshrc: source ~/.svc-completion."]],
  "completion fish": [["svc completion fish > ~/.config/fish/completions/svc.fish", "Once."]],
  start: [["svc start --with-worker", "The service and a worker in one process."]],
  worker: [
    ["svc worker --concurrency 10 --queues procedure,workflow", "Ten jobs at a time, of two kinds."],
    ["svc worker --metrics-port 9464", "Serves metrics of jobs for Prometheus."],
  ],
  logs: [
    ["svc logs svc.log --follow --level warn", "Warnings and errors as they happen."],
    ['svc logs svc.log --operation tasks.* --since "10 minutes"', "Recent calls of tasks procedures."],
    ["svc logs svc.log --request 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "One request, with its jobs."],
  ],
  "jobs list": [["svc jobs list --state dead", "Jobs that have used up their attempts."]],
  "jobs show": [["svc jobs show 42", "Its arguments and its last error."]],
  "jobs history": [
    ["svc jobs history --outcome dead", "The last jobs whose last attempt failed."],
    ["svc jobs history --name tasks.nag --least 1000", "Runs of one procedure that took a second or more."],
  ],
  "jobs retry": [["svc jobs retry 42", "Makes it due now."]],
  "jobs cancel": [["svc jobs cancel 42", "Removes it from the queue."]],
  "jobs tail": [["svc jobs tail", "Until Ctrl+C."]],
  "keys list": [["svc keys list --user ann@example.com", "Ann's keys, the newest first."]],
  "keys revoke": [
    ["svc keys revoke 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "One key, by its id."],
    ["svc keys revoke --user ann@example.com", "All keys of Ann."],
  ],
  "crons list": [["svc crons list", "Their schedules and last runs."]],
  "crons run": [["svc crons run notes.nightly", "Once, now; a worker runs it."]],
  "crons pause": [["svc crons pause notes.nightly", "Its times pass without a run."]],
  "crons resume": [["svc crons resume notes.nightly", "From its next time on."]],
  "workflows list": [["svc workflows list --status failed", "The runs that failed, newest first."]],
  "workflows show": [["svc workflows show 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "With its steps and errors."]],
  "workflows retry": [
    ["svc workflows retry 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11 --from mail", "Runs again from the step `mail`."],
  ],
  "workflows cancel": [["svc workflows cancel 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "Ends it at its current step."]],
  "workflows tail": [["svc workflows tail", "Until Ctrl+C."]],
  "webhooks declared": [["svc webhooks declared --json", "With their filters and keys."]],
  "webhooks list": [["svc webhooks list --state dead", "Deliveries that have used up their attempts."]],
  "webhooks show": [["svc webhooks show 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "With its body and last error."]],
  "webhooks retry": [["svc webhooks retry --dead --webhook invoice-paid", "All dead ones of one webhook."]],
  "secrets status": [["svc secrets status", "Whether the old secret can be removed."]],
  "secrets reseal": [["svc secrets reseal", "After a new secret was put in front."]],
  "ai usage": [["svc ai usage --days 30 --user ann@example.com", "What Ann used this month."]],
  studio: [
    ["svc studio", "Prints an address to open in a browser; Ctrl+C ends it."],
    ["svc studio --port 0", "On any free port, beside another one."],
    ["svc studio --mcp", "For a coding agent, too, until it ends."],
  ],
  "migrate apply": [["svc migrate apply --again", "Applies every file of sql/ again."]],
  "migrate generate": [["svc migrate generate --rename tasks.title:tasks.heading", "A column was renamed."]],
  "migrate status": [["svc migrate status", "The files not applied to this database."]],
  "migrate reset": [["svc migrate reset --yes", "Skips the question."]],
  "db pull": [['svc db pull "$OLD_URL" --schema public --schema sales', "The tables of two schemas."]],
  "db drift": [["svc db drift --json", "For a monitoring program."]],
  "db backup": [["svc db backup /backups/monday", "While the service runs."]],
  "db restore": [
    ["svc db restore /backups/monday --end-sessions", "Restores into an empty database, and signs out all users."],
  ],
  "db verify": [
    ["svc db verify /backups/monday", "Checks that it is complete."],
    ["svc db verify /backups/monday --deep", "Also checks that it can be restored."],
  ],
  "db lint": [["svc db lint --level warning --strict", "For CI."]],
  "db seed": [["svc db seed --file demo.ts", "Runs a file other than backend/seed.ts."]],
  "db slow": [["svc db slow --limit 10", "The ten statements with the most total time."]],
  "db locks": [["svc db locks", "The sessions that block others."]],
  "db stats": [["svc db stats --json", "For a monitoring program."]],
  "db explain": [
    ['svc db explain "select * from tasks where done" --as ann@example.com', "The plan of Ann's request."],
    ['svc db explain "delete from tasks where id = 7" --as ann@example.com --analyze', "Runs it and rolls it back."],
    ["svc db explain tasks.list --as ann@example.com", "The statements inside a generated list."],
  ],
  "db psql": [
    ["svc db psql --as ann@example.com", "Sees what Ann sees."],
    ['svc db psql --as ann@example.com -c "select * from tasks"', "One statement."],
  ],
  policies: [["svc policies tasks", "One table, in words and in SQL."]],
  "rls explain": [
    ["svc rls explain tasks --as ann@example.com --row 42", "Why Ann sees that row, or does not."],
    ["svc rls explain tasks --as ann@example.com --scopes tasks:read", "What an API key of hers sees."],
  ],
  "data export": [
    ["svc data export expenses --as ann@example.com --output expenses.csv", "Every expense that Ann may see."],
  ],
  "data import": [["svc data import expenses expenses.csv --as ann@example.com", "Writes the rows as Ann."]],
  audit: [
    ["svc audit invoices --row 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "The changes of one row."],
    ['svc audit --since "1 day" --actor bYkHq0cL', "What one user changed since yesterday."],
  ],
  "storage ls": [["svc storage ls --limit 10", "The ten newest files."]],
  "storage show": [["svc storage show 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "Its size, owner and checksum."]],
  "storage verify": [["svc storage verify", "Reads every byte."]],
  "storage gc": [["svc storage gc --hours 48", "Keeps bytes younger than two days."]],
  search: [['svc search articles "mooring fee" --explain', "What each term adds to each score."]],
  convert: [["svc convert report.pdf > report.md", "Warnings go to standard error."]],
};

/** Only those that mean more than success (0) and an explained error (1). */
export const exitCodes: ByCommand<Readonly<Record<number, string>>> = {
  "dry-run": { 0: "The call would succeed.", 1: "It would fail, or could not be run." },
  doctor: { 0: "Nothing is wrong.", 1: "Something is wrong." },
  "secrets status": { 0: "Only the first secret is needed.", 1: "An older one is needed, or an error, explained." },
  "migrate status": { 0: "All is applied.", 1: "Something is pending, edited or missing, or an error, explained." },
  "db drift": { 0: "No difference.", 1: "Something differs, or an error, explained." },
  "db backup": { 1: "An error, explained; or the backup is there, and some stored files were damaged before." },
  "db verify": { 0: "The backup is complete.", 1: "Something is missing or damaged, or an error, explained." },
  "db lint": { 0: "No findings that count.", 1: "A finding that counts, or an error, explained." },
  "db psql": { 0: "psql succeeded.", 1: "An error, explained; other codes are psql's own." },
  "storage verify": { 0: "All files are intact.", 1: "Some are damaged, or an error, explained." },
};

/** Pages below docs/, by the command's words or the first of them. */
const pages: ByCommand<string> = {
  migrate: "how-to/change-the-schema.md",
  init: "tutorial/first-application.md",
  dev: "tutorial/first-application.md",
  "dry-run": "how-to/studio.md",
  mcp: "how-to/coding-agents.md",
  worker: "how-to/workers.md",
  logs: "how-to/observe.md",
  jobs: "reference/jobs.md",
  keys: "how-to/integrations.md",
  crons: "reference/jobs.md",
  workflows: "reference/workflows.md",
  webhooks: "how-to/webhooks.md",
  secrets: "how-to/rotate-secrets.md",
  ai: "reference/ai.md",
  studio: "how-to/studio.md",
  "db pull": "how-to/existing-database.md",
  "db backup": "how-to/back-up.md",
  "db restore": "how-to/back-up.md",
  "db verify": "how-to/back-up.md",
  "db lint": "reference/lint.md",
  "db seed": "how-to/seed.md",
  "db slow": "how-to/observe.md",
  "db locks": "how-to/observe.md",
  "db stats": "how-to/observe.md",
  data: "how-to/import-and-export.md",
  audit: "how-to/audit-trail.md",
  storage: "reference/storage.md",
  search: "reference/search.md",
  convert: "reference/documents.md",
};

/** @param name the command's words */
export const pageOf = (name: string): string => pages[name] ?? pages[name.split(" ")[0] ?? ""] ?? "reference/cli.md";
