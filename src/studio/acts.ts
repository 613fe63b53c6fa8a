/**
 * The acts of operators: each is one function of SQL, which writes its line into svc.operator_acts in the same commit.
 * Next hop: `sql/studio/act_retry_job.sql` and its neighbours.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { ask, panel, type Tools } from "./panel.ts";
import { viewer } from "./view.ts";

interface Act<Input> {
  act: string;
  /** Why nothing was done; null for an act that was. */
  refusal(answer: unknown, input: Input): string | null;
  /** Arguments of the function. */
  values(input: Input, tools: Tools): unknown[] | Promise<unknown[]>;
}

const job = z.string().regex(/^\d{1,18}$/);
const run = z.uuid();
const text = z.string().min(1).max(200);

const ofWorkflow: Record<string, string> = {
  unknown: "There is no such run.",
  ended: "The run has ended.",
  full: "The run holds as many events as it may.",
  active: "Only a run that failed or was cancelled can be retried.",
  no_step: "The run has no such step.",
};
const refusalOfRun = (answer: unknown) => (answer === "accepted" ? null : (ofWorkflow[String(answer)] ?? "Refused."));
const member = { organization: text, user: text };
/** @param otherwise why nothing was done */
const unless = (otherwise: string) => (answer: unknown) => (Number(answer) > 0 ? null : otherwise);
const isNoMember = unless("This is no member any more, or an owner already.");
const isGone = (answer: unknown, { id }: { id: string }) => (answer ? null : `Job ${id} is running, or is gone.`);

/** As text; null is null. The database checks names and types (sql/studio/change_row.sql). */
const cells = z.record(z.string().max(63), z.string().nullable());
const key = z.array(z.string()).min(1).max(32);
const table = z.string().min(1).max(200);
const change = z.discriminatedUnion("command", [
  z.strictObject({ command: z.literal("insert"), table, set: cells }),
  z.strictObject({ command: z.literal("update"), table, key, set: cells, was: cells }),
  z.strictObject({ command: z.literal("delete"), table, key, was: cells }),
]);

/** @param values (Default: the input, in the order of the shape) */
const define = <Name extends string, Shape extends z.ZodRawShape>(
  act: Name,
  shape: Shape,
  refusal: Act<z.output<z.ZodObject<Shape>>>["refusal"],
  values: Act<z.output<z.ZodObject<Shape>>>["values"] = (input) =>
    Object.keys(shape).map((key) => (input as Record<string, unknown>)[key]),
) => ({
  input: z.strictObject({ act: z.literal(act), ...shape }),
  how: { act, refusal, values } as unknown as Act<never>,
});

const acts = [
  define("act_retry_job", { id: job }, isGone),
  define("act_cancel_job", { id: job }, isGone),
  define("act_retry_workflow", { run, from: text.nullable() }, refusalOfRun),
  define("act_cancel_workflow", { run }, refusalOfRun),
  define("act_signal_workflow", { run, event: text, content: z.json() }, refusalOfRun, ({ run, event, content }) => [
    run,
    event,
    JSON.stringify(content),
  ]),
  define("act_run_cron", { cron: text }, () => null, procedureOf),
  define("act_pause_cron", { cron: text, paused: z.boolean() }, (answer, { cron, paused }) =>
    answer ? null : `${cron} is ${paused ? "paused already" : "not paused"}, or no worker has registered it.`,
  ),
  define("act_end_sessions", { user: text, session: text.nullable() }, unless("There is no such session any more.")),
  define("act_verify_email", { user: text }, unless("The address is verified already, or the user is gone.")),
  define(
    "act_revoke_api_keys",
    { key: text.nullable(), user: text.nullable() },
    unless("There is no such API key any more."),
  ),
  define("act_remove_member", member, isNoMember),
  define("act_make_owner", member, isNoMember),
  define("act_cancel_invitation", { invitation: z.uuid() }, unless("The invitation is not pending any more.")),
  define(
    "act_retry_deliveries",
    { id: z.uuid().nullable(), webhook: text.nullable() },
    unless("Nothing is dead of a webhook that still exists."),
  ),
  define(
    "act_change_rows",
    { as: viewer, changes: z.array(change).min(1).max(100) },
    () => null,
    ({ as, changes }) => [as, JSON.stringify(changes)],
  ),
];

/** The page names the cron; its procedure is the definition's. */
async function procedureOf({ cron }: { cron: string }, { command }: Tools): Promise<unknown[]> {
  const crons = (await command("crons", "list")) as { name: string; procedure: string }[];
  const found = crons.find(({ name }) => name === cron);
  if (!found) throw new SvcError("NOT_FOUND", `The application defines no cron ${cron}.`);
  return [cron, found.procedure];
}

const inputs = acts.map(({ input }) => input) as unknown as [z.ZodObject<{ act: z.ZodLiteral<string> }>];

export const act = panel(z.discriminatedUnion("act", inputs), async (input, tools) => {
  if (!tools.act) {
    throw new SvcError("FORBIDDEN", "This Studio only reads.", { hint: "Acts need DATABASE_STUDIO_ACT_URL." });
  }
  const how = acts.find(({ how }) => how.act === input.act)?.how as Act<typeof input>;
  const values = await how.values(input, tools);
  const places = values.map((_, index) => `$${index + 1}`);
  const [{ done }] = await ask(tools.act, `select svc_private.${how.act}(${places}) as done`, values);
  const refusal = how.refusal(done, input);
  if (refusal !== null) throw new SvcError("CONFLICT", refusal);
  return { done };
});
