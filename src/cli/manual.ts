/**
 * Examples, exit codes and docs pages for `--help`. Exit codes are listed only where they mean more than success (0)
 * and an explained error (1). tests/structure fails for a command without a page here.
 */

export interface ManualPage {
  /** Command lines with their purposes. */
  examples: readonly (readonly [line: string, purpose: string])[];
  exitCodes?: Readonly<Record<number, string>>;
  /** Below docs/. */
  page: string;
}

/** Keyed by the command's words. */
export const manual: Readonly<Record<string, ManualPage>> = {
  init: {
    examples: [
      ["svc init my-app", "Makes it in ./my-app, and installs its packages."],
      ["svc init my-app --template react", "With React; `next` is the third template."],
      ["svc init my-app --packages .svc/packages", "Takes svc's own packages from a folder."],
    ],
    page: "tutorial/first-application.md",
  },
  dev: {
    examples: [['svc dev --with "vite"', "With the frontend's dev server."]],
    page: "tutorial/first-application.md",
  },
  start: {
    examples: [["svc start --with-worker", "The service and a worker in one process."]],
    page: "reference/cli.md",
  },
  worker: {
    examples: [
      ["svc worker --concurrency 10 --queues procedure,workflow", "Ten jobs at a time, of two kinds."],
      ["svc worker --metrics-port 9464", "Serves metrics of jobs for Prometheus."],
    ],
    page: "how-to/workers.md",
  },
  "dry-run": {
    examples: [
      [`svc dry-run tasks.remove --as ann@example.com --input '{"id":7}'`, "What the call would answer and change."],
    ],
    exitCodes: { 0: "The call would succeed.", 1: "It would fail, or could not be run." },
    page: "how-to/studio.md",
  },
  "workflows list": {
    examples: [["svc workflows list --status failed", "The runs that failed, newest first."]],
    page: "reference/workflows.md",
  },
  "workflows show": {
    examples: [["svc workflows show 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "With its steps and errors."]],
    page: "reference/workflows.md",
  },
  "workflows retry": {
    examples: [
      ["svc workflows retry 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11 --from mail", "Runs again from the step `mail`."],
    ],
    page: "reference/workflows.md",
  },
  "workflows cancel": {
    examples: [["svc workflows cancel 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "Ends it at its current step."]],
    page: "reference/workflows.md",
  },
  "workflows tail": {
    examples: [["svc workflows tail", "Until Ctrl+C."]],
    page: "reference/workflows.md",
  },
  "jobs list": {
    examples: [["svc jobs list --state dead", "Jobs that have used up their attempts."]],
    page: "reference/jobs.md",
  },
  "jobs show": { examples: [["svc jobs show 42", "Its arguments and its last error."]], page: "reference/jobs.md" },
  "data export": {
    examples: [
      ["svc data export expenses --as ann@example.com --output expenses.csv", "Every expense that Ann may see."],
    ],
    page: "how-to/import-and-export.md",
  },
  "data import": {
    examples: [["svc data import expenses expenses.csv --as ann@example.com", "Writes the rows as Ann."]],
    page: "how-to/import-and-export.md",
  },
  "jobs history": {
    examples: [
      ["svc jobs history --outcome dead", "The last jobs whose last attempt failed."],
      ["svc jobs history --name tasks.nag --least 1000", "Runs of one procedure that took a second or more."],
    ],
    page: "reference/jobs.md",
  },
  "jobs retry": { examples: [["svc jobs retry 42", "Makes it due now."]], page: "reference/jobs.md" },
  "jobs cancel": { examples: [["svc jobs cancel 42", "Removes it from the queue."]], page: "reference/jobs.md" },
  "crons list": {
    examples: [["svc crons list", "Their schedules and last runs."]],
    page: "reference/jobs.md",
  },
  "crons pause": {
    examples: [["svc crons pause notes.nightly", "Its times pass without a run."]],
    page: "reference/jobs.md",
  },
  "crons resume": {
    examples: [["svc crons resume notes.nightly", "From its next time on."]],
    page: "reference/jobs.md",
  },
  "crons run": {
    examples: [["svc crons run notes.nightly", "Once, now; a worker runs it."]],
    page: "reference/jobs.md",
  },
  logs: {
    examples: [
      ["svc logs svc.log --follow --level warn", "Warnings and errors as they happen."],
      ['svc logs svc.log --operation tasks.* --since "10 minutes"', "Recent calls of tasks procedures."],
      ["svc logs svc.log --request 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "One request, with its jobs."],
    ],
    page: "how-to/observe.md",
  },
  "jobs tail": { examples: [["svc jobs tail", "Until Ctrl+C."]], page: "reference/jobs.md" },
  "storage ls": {
    examples: [["svc storage ls --limit 10", "The ten newest files."]],
    page: "reference/storage.md",
  },
  "storage show": {
    examples: [["svc storage show 0b6e1c1e-8d0a-4f4e-9a57-3f5a2d1c7b11", "Its size, owner and checksum."]],
    page: "reference/storage.md",
  },
  "storage verify": {
    examples: [["svc storage verify", "Reads every byte."]],
    exitCodes: { 0: "All files are intact.", 1: "Some are damaged, or an error, explained." },
    page: "reference/storage.md",
  },
  "storage gc": {
    examples: [["svc storage gc --hours 48", "Keeps bytes younger than two days."]],
    page: "reference/storage.md",
  },
  "db slow": {
    examples: [["svc db slow --limit 10", "The ten statements with the most total time."]],
    page: "how-to/observe.md",
  },
  "db locks": {
    examples: [["svc db locks", "The sessions that block others."]],
    page: "how-to/observe.md",
  },
  "db stats": {
    examples: [["svc db stats --json", "For a monitoring program."]],
    page: "how-to/observe.md",
  },
  "db lint": {
    examples: [["svc db lint --level warning --strict", "For CI."]],
    exitCodes: { 0: "No findings that count.", 1: "A finding that counts, or an error, explained." },
    page: "reference/lint.md",
  },
  "db drift": {
    examples: [["svc db drift --json", "For a monitoring program."]],
    exitCodes: { 0: "No difference.", 1: "Something differs, or an error, explained." },
    page: "reference/cli.md",
  },
  "db backup": {
    examples: [["svc db backup /backups/monday", "While the service runs."]],
    exitCodes: { 1: "An error, explained; or the backup is there, and some stored files were damaged before." },
    page: "how-to/back-up.md",
  },
  "db restore": {
    examples: [
      ["svc db restore /backups/monday --end-sessions", "Restores into an empty database, and signs out all users."],
    ],
    page: "how-to/back-up.md",
  },
  "db verify": {
    examples: [
      ["svc db verify /backups/monday", "Checks that it is complete."],
      ["svc db verify /backups/monday --deep", "Also checks that it can be restored."],
    ],
    exitCodes: { 0: "The backup is complete.", 1: "Something is missing or damaged, or an error, explained." },
    page: "how-to/back-up.md",
  },
  "secrets status": {
    examples: [["svc secrets status", "Whether the old secret can be removed."]],
    exitCodes: { 0: "Only the first secret is needed.", 1: "An older one is needed, or an error, explained." },
    page: "how-to/rotate-secrets.md",
  },
  "secrets reseal": {
    examples: [["svc secrets reseal", "After a new secret was put in front."]],
    page: "how-to/rotate-secrets.md",
  },
  "db seed": {
    examples: [["svc db seed --file demo.ts", "Runs a file other than backend/seed.ts."]],
    page: "how-to/seed.md",
  },
  "db explain": {
    examples: [
      ['svc db explain "select * from tasks where done" --as ann@example.com', "The plan of Ann's request."],
      ['svc db explain "delete from tasks where id = 7" --as ann@example.com --analyze', "Runs it and rolls it back."],
      ["svc db explain tasks.list --as ann@example.com", "The statements inside a generated list."],
    ],
    page: "reference/cli.md",
  },
  "db psql": {
    examples: [
      ["svc db psql --as ann@example.com", "Sees what Ann sees."],
      ['svc db psql --as ann@example.com -c "select * from tasks"', "One statement."],
    ],
    exitCodes: { 0: "psql succeeded.", 1: "An error, explained; other codes are psql's own." },
    page: "reference/cli.md",
  },
  openapi: {
    examples: [["svc openapi > openapi.json", "For a client generator."]],
    page: "reference/cli.md",
  },
  policies: {
    examples: [["svc policies tasks", "One table, in words and in SQL."]],
    page: "reference/cli.md",
  },
  "rls explain": {
    examples: [["svc rls explain tasks --as ann@example.com --row 42", "Why Ann sees that row, or does not."]],
    page: "reference/cli.md",
  },
  migrate: {
    examples: [["svc migrate --cwd my-app", "Applies new files; the same as `svc migrate apply`."]],
    page: "how-to/change-the-schema.md",
  },
  "migrate apply": {
    examples: [["svc migrate apply --again", "Applies every file of sql/ again."]],
    page: "how-to/change-the-schema.md",
  },
  "migrate generate": {
    examples: [["svc migrate generate --rename tasks.title:tasks.heading", "A column was renamed."]],
    page: "how-to/change-the-schema.md",
  },
  "migrate status": {
    examples: [["svc migrate status", "The files not applied to this database."]],
    exitCodes: { 0: "All is applied.", 1: "Something is pending, edited or missing, or an error, explained." },
    page: "reference/cli.md",
  },
  "migrate reset": {
    examples: [["svc migrate reset --yes", "Skips the question."]],
    page: "reference/cli.md",
  },
  codegen: { examples: [["svc codegen", "Before a commit; needs no database."]], page: "reference/cli.md" },
  "ai usage": {
    examples: [["svc ai usage --days 30 --user ann@example.com", "What Ann used this month."]],
    page: "reference/ai.md",
  },
  convert: {
    examples: [["svc convert report.pdf > report.md", "Warnings go to standard error."]],
    page: "reference/documents.md",
  },
  search: {
    examples: [['svc search articles "mooring fee" --explain', "What each term adds to each score."]],
    page: "reference/search.md",
  },
  doctor: {
    examples: [["svc doctor --verbose", "With the configuration in effect; changes nothing."]],
    exitCodes: { 0: "Nothing is wrong.", 1: "Something is wrong." },
    page: "reference/cli.md",
  },
  studio: {
    examples: [
      ["svc studio", "Prints an address to open in a browser; Ctrl+C ends it."],
      ["svc studio --port 0", "On any free port, beside another one."],
    ],
    page: "how-to/studio.md",
  },
  "completion bash": {
    examples: [["svc completion bash > ~/.svc-completion", "Then, in ~/.bashrc: source ~/.svc-completion."]],
    page: "reference/cli.md",
  },
  "completion zsh": {
    examples: [["svc completion zsh > ~/.svc-completion", "Then, in ~/.zshrc: source ~/.svc-completion."]],
    page: "reference/cli.md",
  },
  "completion fish": {
    examples: [["svc completion fish > ~/.config/fish/completions/svc.fish", "Once."]],
    page: "reference/cli.md",
  },
  prepare: { examples: [["svc prepare", "What `svc dev` does before it serves."]], page: "reference/cli.md" },
};
