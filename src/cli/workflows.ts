/**
 * `svc workflows`: lists workflow runs, retries and cancels them.
 * Next hop: `sql/workflows/list_runs.sql`, `sql/studio/act_retry_workflow.sql`.
 */

import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { deriveWorkflowStatus } from "../workflows/status.ts";
import { cwdArgument } from "./command.ts";
import { defineCommand } from "./define.ts";
import { follow, mostFollowed, withSystem } from "./inspect.ts";
import { limitArgument, oneOf, wholeNumber } from "./options.ts";
import { conclude, print } from "./output.ts";
import { details, paint, table, time } from "./table.ts";

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

const idArgument = { id: { type: "positional", description: "The run's id.", required: true } } as const;

const list = defineCommand({
  description: "Runs of workflows, newest first.",
  args: {
    ...cwdArgument,
    status: { type: "string", description: `Only one of: ${statuses.join(", ")}. (Default: all)` },
    ...limitArgument,
  },
  run: async ({ args }) => {
    const status = oneOf("status", args.status, statuses);
    const limit = wholeNumber("limit", args.limit);
    await withSystem(args.cwd, async (pool) => {
      const head = ["id", "status", "name", "as", "created at (UTC)", "error"];
      const runs = await read(pool, status, null, limit);
      print(runs, () => table(head, runs.map(line)));
    });
  },
});

const show = defineCommand({
  description: "Show one run with its steps.",
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) =>
    withSystem(args.cwd, async (pool) => {
      const [found] = await read(pool, null, idOf(args.id), 1);
      if (!found) throw unknownRun(args.id);
      print(found, () => describe(found));
    }),
});

const retry = defineCommand({
  description: "Retry a run that failed or was cancelled.",
  args: {
    ...cwdArgument,
    ...idArgument,
    from: {
      type: "string",
      description: "A step's name or position; it and all later steps run again. (Default: where it failed)",
    },
  },
  run: ({ args }) =>
    change(args.cwd, args.id, "select svc_private.act_retry_workflow($1, $2) as it", [args.from ?? null], "resumed"),
});

const cancel = defineCommand({
  description: "End a run.",
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => change(args.cwd, args.id, "select svc_private.act_cancel_workflow($1) as it", [], "cancelled"),
});

const tail = defineCommand({
  description: "Follow the runs: a line for each whose status changes.",
  args: cwdArgument,
  run: ({ args }) =>
    withSystem(args.cwd, (pool) => follow(async () => (await read(pool, null, null, mostFollowed)).map(followed))),
});

export const command = defineCommand({
  subCommands: { list, show, retry, cancel, tail },
});

async function read(pool: pg.Pool, status: string | null, id: string | null, most: number): Promise<Run[]> {
  return (await pool.query<Run>("select * from svc_private.list_runs($1, $2, $3)", [status, id, most])).rows;
}

/** Messages for the results other than "accepted". */
const refusals: Record<string, [string, string]> = {
  active: ["has not failed, and was not cancelled.", "Only failed or cancelled runs can be retried."],
  ended: ["has ended.", "See `svc workflows show`."],
  no_step: ["has no such step.", "See `svc workflows show` for its steps."],
};

const outcomes = { resumed: "continues", cancelled: "is cancelled" } as const;

async function change(
  cwd: string,
  text: string,
  sql: string,
  more: unknown[],
  outcome: keyof typeof outcomes,
): Promise<void> {
  const id = idOf(text);
  await withSystem(cwd, async (pool) => {
    const { rows } = await pool.query<{ it: string }>(sql, [id, ...more]);
    const answer = rows[0]?.it ?? "unknown";
    if (answer === "accepted") return conclude({ id, outcome }, `Run ${id} ${outcomes[outcome]}.`);
    const [what, hint] = refusals[answer] ?? [];
    if (!what || !hint) throw unknownRun(id);
    throw new DefinitionError(`Run ${id} ${what}`, { hint });
  });
}

const followed = (one: Run) => ({ id: one.id, state: statusOf(one), line: line(one).join("  "), value: one });

const statusOf = ({ status, wait_marker }: Run) => deriveWorkflowStatus(status, wait_marker);

const line = (one: Run): string[] => [
  one.id,
  paint(statusOf(one), colours[one.status]),
  one.name,
  one.caller,
  time(one.created_at),
  // For a bug in the handler, the hint is more useful than the message.
  ((one.error?.code === "INTERNAL" && one.error.hint) || one.error?.message)?.split("\n", 1)[0]?.slice(0, 80) ?? "",
];

function describe(one: Run): string {
  const text = details([
    ["id", one.id],
    ["status", paint(statusOf(one), colours[one.status])],
    ["waits for", one.wait_marker ?? "-"],
    ["name", `${one.name}, version ${one.version}`],
    ["as", one.caller],
    ["created at", time(one.created_at)],
    ["wakes at", time(one.wake_at)],
    ["finished at", time(one.finished_at)],
    ["arguments", JSON.stringify(one.args)],
    ["result", JSON.stringify(one.result)],
    ["error", one.error ? `${one.error.code}: ${one.error.message}` : "-"],
    ["hint", one.error?.hint ?? "-"],
    ["detail", one.error_detail ?? "-"],
  ]);
  const steps = (one.steps ?? []).map((step) => [step.position, step.kind, step.name, outcomeOf(step)]);
  return steps.length > 0 ? `${text}\n${table(["position", "kind", "step", "outcome"], steps)}` : text;
}

const outcomeOf = ({ done, failed }: Step) => (failed ? paint("failed", 31) : done ? paint("done", 32) : "waiting");

function idOf(text: string): string {
  if (isUuid(text)) return text;
  throw new DefinitionError(`"${text}" is not a run's id.`, { hint: "Ids are UUIDs: see `svc workflows list`." });
}

const unknownRun = (id: string) => new DefinitionError(`There is no run ${id}.`, { hint: "See `svc workflows list`." });
