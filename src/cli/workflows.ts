/**
 * `svc workflows`: how runs are doing, and what a person can do about one.
 * Next hop: `sql/workflows/list_runs.sql`, `retry_any_workflow.sql`, `cancel_any_workflow.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { defineCommand } from "citty";
import pg from "pg";
import { DefinitionError } from "../define/definition-error.ts";
import { isStorageId as isUuid } from "../storage/names.ts";
import { deriveWorkflowStatus } from "../workflows/status.ts";
import { cwdArgument, openDatabase, readConfig, run, say } from "./command.ts";
import { paint, table } from "./table.ts";

interface Step {
  position: string;
  kind: string;
  name: string;
  done: boolean;
  failed: boolean;
}

interface Run {
  id: string;
  name: string;
  version: number;
  status: keyof typeof colours;
  wait_marker: string | null;
  caller: string;
  attempts: number;
  args: unknown;
  result: unknown;
  error: { code?: string; message?: string } | null;
  error_detail: string | null;
  wake_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
  steps: Step[] | null;
}

const colours = { pending: 33, running: 36, completed: 32, failed: 31, cancelled: 39 } as const;
const statuses = Object.keys(colours);

const idArgument = { id: { type: "positional", description: "The run's id.", required: true } } as const;

const list = defineCommand({
  meta: { name: "list", description: "Runs of workflows, newest first." },
  args: {
    ...cwdArgument,
    status: { type: "string", description: `Only one of: ${statuses.join(", ")}.` },
    limit: { type: "string", description: "Rows at most. (Default: 50)", default: "50" },
  },
  run: ({ args }) =>
    run(args.cwd, async () => {
      if (args.status && !statuses.includes(args.status)) {
        throw new DefinitionError(`"${args.status}" is no status of a run.`, {
          hint: `Statuses: ${statuses.join(", ")}.`,
        });
      }
      const limit = Number(args.limit);
      if (!Number.isInteger(limit) || limit < 1) {
        throw new DefinitionError(`--limit ${args.limit} is no number of rows.`);
      }
      await withRuns(args.cwd, async (client) => {
        const head = ["id", "status", "name", "as", "created at (UTC)", "error"];
        process.stdout.write(table(head, (await read(client, args.status ?? null, null, limit)).map(line)));
      });
    }),
});

const show = defineCommand({
  meta: { name: "show", description: "All about one run, with its steps." },
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) =>
    run(args.cwd, () =>
      withRuns(args.cwd, async (client) => {
        const [found] = await read(client, null, idOf(args.id), 1);
        if (!found) throw unknownRun(args.id);
        process.stdout.write(details(found));
      }),
    ),
});

const retry = defineCommand({
  meta: { name: "retry", description: "Take a run that failed or was cancelled up again." },
  args: {
    ...cwdArgument,
    ...idArgument,
    from: {
      type: "string",
      description: "A step's name or position, from which on all is done anew. (Default: where it failed)",
    },
  },
  run: ({ args }) =>
    change(args.cwd, args.id, "select svc_private.retry_any_workflow($1, $2) as it", [args.from ?? null], "goes on"),
});

const cancel = defineCommand({
  meta: { name: "cancel", description: "End a run." },
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => change(args.cwd, args.id, "select svc_private.cancel_any_workflow($1) as it", [], "is cancelled"),
});

const tail = defineCommand({
  meta: { name: "tail", description: "Follow the runs: a line for each whose status changes." },
  args: cwdArgument,
  run: ({ args }) => run(args.cwd, () => withRuns(args.cwd, follow)),
});

export const workflowsCommand = defineCommand({
  meta: { name: "workflows", description: "Look at runs of workflows; retry or cancel them." },
  subCommands: { list, show, retry, cancel, tail },
});

async function withRuns(cwd: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const cluster = await openDatabase(await readConfig(cwd));
  const client = new pg.Client({ connectionString: cluster.urls.system, application_name: "svc workflows" });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
    await cluster.stop();
  }
}

async function read(client: pg.Client, status: string | null, id: string | null, most: number): Promise<Run[]> {
  return (await client.query<Run>("select * from svc_private.list_runs($1, $2, $3)", [status, id, most])).rows;
}

/** What the functions answer instead of "accepted", in words. */
const refusals: Record<string, [string, string]> = {
  active: ["has not failed, and was not cancelled.", "Only such a run can be taken up again."],
  ended: ["has ended.", "See `svc workflows show`."],
  no_step: ["has no such step.", "See `svc workflows show` for its steps."],
};

function change(cwd: string, text: string, sql: string, more: unknown[], outcome: string): Promise<void> {
  return run(cwd, async () => {
    const id = idOf(text);
    await withRuns(cwd, async (client) => {
      const { rows } = await client.query<{ it: string }>(sql, [id, ...more]);
      const answer = rows[0]?.it ?? "unknown";
      if (answer === "accepted") return say(`Run ${id} ${outcome}.`);
      const [what, hint] = refusals[answer] ?? [];
      if (!what || !hint) throw unknownRun(id);
      throw new DefinitionError(`Run ${id} ${what}`, { hint });
    });
  });
}

/** Asks once a second, which is as often as a person reads. Ends with Ctrl+C. */
async function follow(client: pg.Client): Promise<void> {
  const known = new Map<string, string>();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  for (let first = true; !stop.signal.aborted; first = false) {
    for (const one of (await read(client, null, null, 1_000)).toReversed()) {
      const state = statusOf(one);
      if (!first && known.get(one.id) !== state) process.stdout.write(`${line(one).join("  ")}\n`);
      known.set(one.id, state);
    }
    await sleep(1_000, undefined, { signal: stop.signal }).catch(() => {});
  }
}

const statusOf = ({ status, wait_marker }: Run) => deriveWorkflowStatus(status, wait_marker);

const line = (one: Run): string[] => [
  one.id,
  paint(statusOf(one), colours[one.status]),
  one.name,
  one.caller,
  time(one.created_at),
  one.error?.message?.split("\n", 1)[0]?.slice(0, 80) ?? "",
];

function details(one: Run): string {
  const rows = [
    ["id", one.id],
    ["status", paint(statusOf(one), colours[one.status])],
    ["waits for", one.wait_marker ?? "-"],
    ["name", `${one.name}, version ${one.version}`],
    ["as", one.caller],
    ["created at", time(one.created_at)],
    ["wakes at", one.wake_at ? time(one.wake_at) : "-"],
    ["finished at", one.finished_at ? time(one.finished_at) : "-"],
    ["arguments", JSON.stringify(one.args)],
    ["result", JSON.stringify(one.result)],
    ["error", one.error ? `${one.error.code}: ${one.error.message}` : "-"],
    ["detail", one.error_detail ?? "-"],
  ];
  const text = rows.map(([name = "", value]) => `${name.padEnd(12)}  ${value}\n`).join("");
  const steps = (one.steps ?? []).map((step) => [step.position, step.kind, step.name, outcomeOf(step)]);
  return steps.length > 0 ? `${text}\n${table(["position", "kind", "step", "outcome"], steps)}` : text;
}

const outcomeOf = ({ done, failed }: Step) => (failed ? paint("failed", 31) : done ? paint("done", 32) : "waiting");

const time = (value: Date) => value.toISOString().slice(0, 19).replace("T", " ");

function idOf(text: string): string {
  if (isUuid(text)) return text;
  throw new DefinitionError(`"${text}" is no run's id.`, { hint: "Ids are UUIDs: see `svc workflows list`." });
}

const unknownRun = (id: string) => new DefinitionError(`There is no run ${id}.`, { hint: "See `svc workflows list`." });
