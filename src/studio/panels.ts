/**
 * What Studio's page may ask for, by name. Also the API that tests use.
 * Next hop: `rows.ts` for Data; `src/postgres/row-access.ts` for Policies.
 */
import type pg from "pg";
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { type Access, wordsOf } from "../postgres/access-rules.ts";
import { verdict } from "../postgres/row-access.ts";
import type { Answer } from "./listener.ts";
import { columnsOf, operators, readCell, readRows } from "./rows.ts";
import { explained, viewAs } from "./view.ts";

export interface PanelOptions {
  /** As `svc_studio_read`. */
  read: pg.Pool;
  /** As `svc_studio_act`; null: every act is refused. */
  act: pg.Pool | null;
  /** Runs a command of `svc` that prints JSON, such as `doctor`. */
  command(...words: string[]): Promise<unknown>;
}

const name = z.string().min(1).max(200);
const viewer = z.string().max(200).nullable();
const key = z.array(z.string().max(10_000)).min(1).max(32);
const filter = z.strictObject({ column: name, operator: z.enum(operators), value: z.string().max(10_000) });
const jobStates = ["dead", "running", "failing", "due", "scheduled"] as const;

const inputs = {
  status: z.strictObject({}),
  doctor: z.strictObject({}),
  migrations: z.strictObject({}),
  queue: z.strictObject({ state: z.enum(jobStates) }),
  users: z.strictObject({ search: z.string().max(200) }),
  tables: z.strictObject({}),
  rows: z.strictObject({
    table: name,
    as: viewer,
    after: key.nullable().default(null),
    filter: filter.nullable().default(null),
    limit: z.int().min(1).max(200).default(50),
    ghosts: z.boolean().default(false),
  }),
  cell: z.strictObject({ table: name, as: viewer, key, column: name }),
  policies: z.strictObject({ table: name.nullable().default(null) }),
  explain: z.strictObject({ table: name, as: viewer, key }),
  act: z.strictObject({ act: z.enum(["act_retry_job", "act_cancel_job"]), id: z.string().regex(/^\d{1,18}$/) }),
};

type Name = keyof typeof inputs;
type Panels = { [N in Name]: (input: z.output<(typeof inputs)[N]>) => Promise<unknown> };

export function createPanels({ read, act, command }: PanelOptions): Answer {
  const ask = async (pool: pg.Pool, text: string, values: unknown[] = []) =>
    (await pool.query(text, values).catch((error) => Promise.reject(explained(error)))).rows;
  const listAccess = async (table: string | null): Promise<Access[]> =>
    (await ask(read, "select svc_private.studio_access($1) as rule", [table])).map(({ rule }) => rule);
  const once = onceAtATime(command);

  const panels: Panels = {
    status: async () => ({ mayAct: act !== null, acts: await ask(read, "select * from svc_private.studio_acts(20)") }),
    doctor: () => once("doctor"),
    migrations: () => once("migrate", "status"),
    queue: async ({ state }) => ({
      counts: (await ask(read, "select * from svc_private.studio_queue()"))[0],
      jobs: await ask(read, "select * from svc_private.studio_jobs($1, 50)", [state]),
    }),
    users: ({ search }) => ask(read, "select * from svc_private.studio_users($1, 20)", [search]),
    tables: () => ask(read, "select * from svc_private.studio_tables()"),
    rows: (input) => readRows(read, input),
    cell: (input) => readCell(read, input),
    policies: async ({ table }) => (await listAccess(table)).map((rule) => ({ ...rule, words: wordsOf(rule) })),
    explain: async ({ table, as, key }) => {
      const role = as === null ? "svc_anonymous" : "svc_authenticated";
      const rules = (await listAccess(table)).filter((rule) => rule.role === role);
      return viewAs(read, as, async (transaction) => {
        await columnsOf(transaction, table);
        const found = await transaction.asLogin({ text: "select svc_private.studio_row($1, $2) as row" }, [table, key]);
        const row: string | null = found.rows[0].row;
        if (row === null) throw new SvcError("NOT_FOUND", `${table} has no such row at all.`);
        const verdicts = [];
        for (const rule of rules)
          verdicts.push(
            await verdict(rule, row, async (text, values) => (await transaction.query({ text }, values)).rows[0] ?? {}),
          );
        return verdicts;
      });
    },
    act: async ({ act: what, id }) => {
      if (!act) {
        throw new SvcError("FORBIDDEN", "This Studio only reads.", { hint: "Acts need DATABASE_STUDIO_ACT_URL." });
      }
      const [answer] = await ask(act, `select svc_private.${what}($1) as done`, [id]);
      if (!answer.done) throw new SvcError("CONFLICT", `Job ${id} is running, or is gone.`);
      return answer;
    },
  };

  return (called, input) => {
    if (!Object.hasOwn(panels, called)) throw new SvcError("NOT_FOUND", `Studio has no ${called.slice(0, 100)}.`);
    const { success, data, error } = inputs[called as Name].safeParse(input);
    if (!success) throw new SvcError("VALIDATION_FAILED", z.prettifyError(error));
    return panels[called as Name](data as never);
  };
}

/** A command costs a process: a second request for it, while it runs, gets the same result. */
function onceAtATime(command: PanelOptions["command"]): PanelOptions["command"] {
  const running = new Map<string, Promise<unknown>>();
  return (...words) => {
    const id = words.join(" ");
    const result = running.get(id) ?? command(...words).finally(() => running.delete(id));
    running.set(id, result);
    return result;
  };
}
