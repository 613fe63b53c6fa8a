/**
 * `svc workflows`: lists workflow runs, retries and cancels them.
 * Next hop: `sql/workflows/list_runs.sql`, `sql/studio/act_retry_workflow.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { deriveWorkflowStatus } from "../workflows/status.ts";
import { defineCommand } from "./define.ts";
import { follow, mostFollowed, resultOf, rowsOf, systemCommand } from "./inspect.ts";
import { choice, idReader, limit, text, word } from "./options.ts";
import { conclude, print, printRows } from "./output.ts";
import { type Columns, details, firstLine, paint, table } from "./table.ts";

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
  error: { code?: string; message?: string; hint?: string } | null;
  error_detail: string | null;
  wake_at: Date | null;
  created_at: Date;
  finished_at: Date | null;
  steps: Step[] | null;
}

const colours = { pending: 33, running: 36, completed: 32, failed: 31, cancelled: 39 } as const;
const statuses = Object.keys(colours);

const id = word("The run's id.", idReader("a run's id", isUuid, "Ids are UUIDs: see `svc workflows list`."));

const list = systemCommand({
  description: "Runs of workflows, newest first.",
  args: { status: choice(statuses, `Only one of: ${statuses.join(", ")}. (Default: all)`), limit },
  run: async (pool, { status, limit }) => printRows(await read(pool, status, null, limit), columns),
});

const show = systemCommand({
  description: "Show one run with its steps.",
  args: { id },
  run: async (pool, { id }) => {
    const [found] = await read(pool, null, id, 1);
    if (!found) throw unknownRun(id);
    print(found, () => describe(found));
  },
});

const retry = systemCommand({
  description: "Retry a run that failed or was cancelled.",
  args: {
    id,
    from: text("A step's name or position; it and all later steps run again. (Default: where it failed)"),
  },
  run: async (pool, { id, from }) => {
    requireAccepted(id, await resultOf<string>(pool, "act_retry_workflow", id, from));
    conclude({ id, outcome: "resumed" }, `Run ${id} continues.`);
  },
});

const cancel = systemCommand({
  description: "End a run.",
  args: { id },
  run: async (pool, { id }) => {
    requireAccepted(id, await resultOf<string>(pool, "act_cancel_workflow", id));
    conclude({ id, outcome: "cancelled" }, `Run ${id} is cancelled.`);
  },
});

const tail = systemCommand({
  description: "Follow the runs: a line for each whose status changes.",
  run: (pool) => follow(() => read(pool, null, null, mostFollowed), columns, statusOf),
});

export const command = defineCommand({ subCommands: { list, show, retry, cancel, tail } });

const read = (pool: pg.Pool, status: string | null | undefined, id: string | null, most: number): Promise<Run[]> =>
  rowsOf(pool, "list_runs", status, id, most);

/** Messages for the results other than "accepted". */
const refusals: Record<string, [string, string]> = {
  active: ["has not failed, and was not cancelled.", "Only failed or cancelled runs can be retried."],
  ended: ["has ended.", "See `svc workflows show`."],
  no_step: ["has no such step.", "See `svc workflows show` for its steps."],
};

function requireAccepted(id: string, answer: string): void {
  if (answer === "accepted") return;
  const [what, hint] = refusals[answer] ?? [];
  if (!what || !hint) throw unknownRun(id);
  throw new DefinitionError(`Run ${id} ${what}`, { hint });
}

const statusOf = ({ status, wait_marker }: Run) => deriveWorkflowStatus(status, wait_marker);

const columns: Columns<Run> = {
  id: "id",
  status: (one) => paint(statusOf(one), colours[one.status]),
  name: "name",
  as: "caller",
  "created at (UTC)": "created_at",
  // For a bug in the handler, the hint is more useful than the message.
  error: ({ error }) => firstLine((error?.code === "INTERNAL" && error.hint) || error?.message),
};

function describe(one: Run): string {
  const text = details({
    id: one.id,
    status: paint(statusOf(one), colours[one.status]),
    "waits for": one.wait_marker,
    name: `${one.name}, version ${one.version}`,
    as: one.caller,
    "created at": one.created_at,
    "wakes at": one.wake_at,
    "finished at": one.finished_at,
    arguments: JSON.stringify(one.args),
    result: JSON.stringify(one.result),
    error: one.error && `${one.error.code}: ${one.error.message}`,
    hint: one.error?.hint,
    detail: one.error_detail,
  });
  const steps = (one.steps ?? []).map((step) => [step.position, step.kind, step.name, outcomeOf(step)]);
  return steps.length > 0 ? `${text}\n${table(["position", "kind", "step", "outcome"], steps)}` : text;
}

const outcomeOf = ({ done, failed }: Step) => (failed ? paint("failed", 31) : done ? paint("done", 32) : "waiting");

const unknownRun = (id: string) => new DefinitionError(`There is no run ${id}.`, { hint: "See `svc workflows list`." });
