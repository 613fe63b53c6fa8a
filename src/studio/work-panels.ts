/**
 * Jobs, Workflows and Crons.
 * Next hop: `sql/studio/studio_runs.sql`, `studio_jobs.sql`, `studio_job_history.sql`, `studio_crons.sql`.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { most, newestFirst, pageOf, place } from "./pages.ts";
import { panel } from "./panel.ts";

const jobStates = ["dead", "running", "failing", "due", "scheduled"] as const;
const runStates = ["pending", "running", "completed", "failed", "cancelled"] as const;

const runs = z.strictObject({
  status: z.enum(runStates).nullable(),
  name: z.string().max(200).nullable(),
  before: place,
});

const finished = z.strictObject({
  name: z.string().max(200).nullable(),
  outcome: z.enum(["done", "dead"]).nullable(),
  /** In milliseconds. */
  least: z.int().min(1).max(86_400_000).nullable(),
  before: z
    .string()
    .regex(/^\d{1,18}$/)
    .nullable(),
});

export const workPanels = {
  queue: panel(z.strictObject({ state: z.enum(jobStates).nullable() }), async ({ state }, { ask }) => ({
    counts: (await ask("select * from svc_private.studio_queue()"))[0],
    jobs: state === null ? [] : await ask("select * from svc_private.studio_jobs($1, $2)", [state, most]),
  })),
  history: panel(finished, async ({ name, outcome, least, before }, { ask }) => {
    const text = "select * from svc_private.studio_job_history($1, $2, $3, $4, $5)";
    const found = await ask(text, [name, outcome, least, before, most + 1]);
    const { rows: jobs, next } = pageOf(found, ({ entry }) => entry);
    return { jobs, next };
  }),
  runs: panel(runs, async ({ status, name, before }, { ask }) => {
    // As JSON: the time of the last row is the key of the next page, to the microsecond.
    const text = "select to_jsonb(r) as run from svc_private.studio_runs($1, $2, $3, $4, $5) r";
    const { rows, next } = await newestFirst(before ?? {}, async (...last) =>
      (await ask(text, [status, name, ...last])).map(({ run }) => run),
    );
    return { runs: rows, next };
  }),
  run: panel(z.strictObject({ id: z.uuid() }), async ({ id }, { ask }) => {
    const [{ run }] = await ask("select svc_private.studio_run($1) as run", [id]);
    if (!run) throw new SvcError("NOT_FOUND", `There is no run ${id}.`);
    return run;
  }),
  crons: panel(z.strictObject({}), async (_, { ask, command }) => {
    const [registered, defined] = await Promise.all([
      ask("select * from svc_private.studio_crons()"),
      command("crons", "list") as Promise<{ name: string; schedule: string; procedure: string }[]>,
    ]);
    const known = new Map(registered.map((row) => [row.name, row]));
    return defined.map(({ name, schedule, procedure }) => {
      const { last_slot = null, last_job = null, paused_at = null } = known.get(name) ?? {};
      return { name, schedule, procedure, isRegistered: known.has(name), last_slot, last_job, paused_at };
    });
  }),
};
