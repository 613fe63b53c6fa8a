/** The doors to workflow runs, transcriptions and the ledger, and `ctx.db` to every table that requests may read. */
import { type Caller, type Door, isGiven, refusedAs, type WritingDoor } from "./door.ts";
import { everything } from "./situations.ts";
import type { World } from "./world.ts";

type Row = { id: string };
type Timeline = { id: string; steps: { position: string }[]; events: { takenBy: string }[] };
const runs = "select id::text from svc.workflow_runs";
/** Parts of a run are visible with the run. */
const parts = (table: string, id: string) =>
  `select ${id} as id from svc.${table} as part where exists (select from svc.workflow_runs r where r.id = part.run_id)`;
const steps = parts("workflow_steps", "concat_ws(' ', run_id, 'step', position)");
const events = parts("workflow_events", "concat_ws(' ', run_id, 'event', taken_by)");

/** Columns that identify a row. (Default: id) */
const keys: Record<string, string> = { "svc.workflow_steps": "seq" };

export function platformDoors({ running, sql }: World): Door[] {
  const ofEvery = async <T>(table: string, ask: (id: string) => Promise<T[]>): Promise<T[]> => {
    const rows = await sql.all<Row>(`select id::text from ${table}`);
    return (await Promise.all(rows.map(({ id }) => ask(id)))).flat();
  };
  const timelines =
    (what: (run: Timeline) => string[]): Door["read"] =>
    ({ user }) =>
      ofEvery("svc.workflow_runs", async (id) => {
        const answer = await running.query(user, "workflows.get", { id });
        return isGiven(answer) ? what(answer.body.json) : [];
      });
  const listed =
    (name: string, args?: object): Door["read"] =>
    async ({ user }) => {
      const answer = await running.query(user, name, args);
      return isGiven(answer) ? answer.body.json.items.map(({ id }: Row) => id) : [];
    };
  const direct =
    (text: string): Door["read"] =>
    async (caller) =>
      (await sql.query<Row>(caller, text).catch(refusedAs([]))).map(({ id }) => id);
  // Each id is requested alone: the answer's text contains a list of all keys.
  const each =
    (text: string): Door["read"] =>
    async (caller) => {
      const ids = await sql.all<Row>(runs);
      const values = `unnest('{${ids.map(({ id }) => id)}}'::uuid[]) as run`;
      return direct(text.replace("runs", values))(caller, undefined as never);
    };
  return [
    {
      name: "workflows.list",
      functions: ["list_workflows"],
      rows: runs,
      read: listed("workflows.list", { limit: 100 }),
    },
    { name: "ctx.workflows.list", functions: ["list_workflows"], rows: runs, read: listed("doors.runs") },
    {
      name: "workflows.get, with its steps and its events",
      functions: ["get_workflow"],
      rows: [runs, steps, events].join(" union all "),
      read: timelines(({ id, steps, events }) => [
        id,
        ...steps.map(({ position }) => `${id} step ${position}`),
        ...events.map(({ takenBy }) => `${id} event ${takenBy}`),
      ]),
    },
    {
      name: "svc.list_workflows(), page after page",
      functions: ["list_workflows"],
      rows: runs,
      read: direct(
        `with recursive page (it) as (
           select svc.list_workflows(null, null, 5, null)
           union all
           select svc.list_workflows(null, null, 5, it ->> 'nextCursor') from page where it ->> 'nextCursor' is not null)
         select item ->> 'id' as id from page, json_array_elements(it -> 'items') as item`,
      ),
    },
    {
      name: "svc.get_workflow()",
      functions: ["get_workflow"],
      rows: runs,
      read: each("select run::text as id from runs where svc.get_workflow(run) is not null"),
    },
    {
      name: "svc_hidden.describe_run()",
      functions: ["describe_run"],
      rows: runs,
      read: each("select run::text as id from runs where svc_hidden.describe_run(run) is not null"),
    },
    {
      name: "ai.speech.transcription",
      functions: ["get_transcription"],
      rows: "select id::text from svc.ai_transcriptions",
      read: ({ user }) =>
        ofEvery("svc.ai_transcriptions", async (id) =>
          isGiven(await running.query(user, "doors.transcription", { id })) ? [id] : [],
        ),
    },
    ...everything.map((table): Door => {
      const key = keys[table] ?? "id";
      return {
        name: `ctx.db, ${table}`,
        rows: `select ${key}::text as id from ${table}`,
        async read({ user }) {
          const answer = await running.query(user, "doors.rows", { table, key });
          return isGiven(answer) ? answer.body.json.map(({ id }: Row) => id) : [];
        },
      };
    }),
  ];
}

/**
 * Changes of the caller's own runs that the policies show. A permissive policy of the application only lets others read
 * them.
 */
export function workflowWrites({ running, sql }: World): WritingDoor[] {
  const table = "svc.workflow_runs";
  const mine = { table, may: `${runs} where user_id = svc.current_user_id()` };
  const call =
    (name: string) =>
    async ({ user }: Caller, id: string) =>
      isGiven(await running.mutate(user, `doors.${name}`, { id }));
  const direct = (text: string) => async (caller: Caller, id: string) => {
    const [row] = await sql.asLogin<{ it: string }>(caller, `select ${text} as it`, [id]);
    return row?.it === "accepted";
  };
  return [
    { name: "ctx.workflows.signal", functions: ["signal_workflow"], ...mine, write: call("signal") },
    { name: "ctx.workflows.cancel", functions: ["cancel_workflow"], ...mine, write: call("cancel") },
    // The runs are already cancelled then.
    { name: "ctx.workflows.retry", functions: ["retry_workflow"], ...mine, write: call("retry") },
    {
      name: "svc.signal_workflow()",
      functions: ["signal_workflow"],
      ...mine,
      write: direct("svc.signal_workflow($1, 'go', 'null')"),
    },
    {
      name: "svc.cancel_workflow()",
      functions: ["cancel_workflow"],
      ...mine,
      write: direct("svc.cancel_workflow($1)"),
    },
  ];
}
