/**
 * The plan of one statement, as a given user. The extended protocol accepts only one statement. With --analyze nothing
 * is changed: the transaction is read-only, or rolled back when the plan itself writes.
 * Next hop: `plan.ts`.
 */
import type pg from "pg";
import { DefinitionError } from "../../kit/definition-error.ts";
import type { Plan, PlanNode } from "./plan.ts";

/** The statement to explain, and the user. */
export interface Question {
  /** SQL, or the name of a generated list or get. */
  statement: string;
  /** Of --args, parsed; undefined when there are none. */
  args: unknown;
  analyze: boolean;
  timeoutSeconds: number;
  /** From `identify`. */
  settings: Readonly<Record<string, string>>;
}

/** @throws DefinitionError for statements that EXPLAIN also accepts: CREATE TABLE AS, DECLARE, EXECUTE */
export function checkStatement(statement: string): void {
  const start = statement.replace(/^(\s|\(|--.*(\n|$)|\/\*[\s\S]*?\*\/)*/, "");
  if (/^\w+(\.\w+)+$/.test(start)) {
    throw new DefinitionError(`svc db explain knows generated lists and gets, and ${start} is neither.`, {
      hint: "Explain its statements one by one: traces and svc db slow show those of handlers, sql/crud those of generated operations.",
    });
  }
  if (/^(select|insert|update|delete|merge|with|values|table)\b/i.test(start)) return;
  throw new DefinitionError("svc db explain takes SELECT, INSERT, UPDATE, DELETE, MERGE, WITH, VALUES and TABLE.", {
    hint: 'Give it one statement, without EXPLAIN before it, or a generated list or get such as "tasks.list".',
  });
}

/** @param client the user's login */
export async function explainStatement(client: pg.Client, question: Question): Promise<Plan> {
  const { statement, args = [], analyze } = question;
  if (!Array.isArray(args)) {
    throw new DefinitionError("--args is an array for a statement.", {
      hint: `Write --args '["open", 7]' for $1, $2.`,
    });
  }
  const explain = async (options: string) => {
    // The name forces the extended protocol. Without values pg would use the simple one, which accepts several statements.
    const text = `explain (format json, verbose${options})\n${statement}`;
    const query = { text, values: args, queryMode: "extended" } as pg.QueryConfig;
    return (await client.query(query)).rows[0]["QUERY PLAN"][0] as Plan;
  };
  const plan = await undone(client, question, "read only", () => explain(""));
  if (!analyze) return plan;
  return undone(client, question, writes(plan.Plan) ? "read write" : "read only", () => explain(", analyze, buffers"));
}

/** Whether the plan changes or locks rows. PostgreSQL refuses writes inside functions. */
const writes = (node: PlanNode): boolean =>
  ["ModifyTable", "LockRows"].includes(node["Node Type"]) || (node.Plans ?? []).some(writes);

/** Runs in a transaction with this user's identity, which is always rolled back. */
export async function undone<Result>(
  client: pg.Client,
  { settings, timeoutSeconds }: Question,
  access: "read only" | "read write",
  work: () => Promise<Result>,
): Promise<Result> {
  // SET, because svc_system may not call set_config(). Identity before role: the role may not set it.
  const all = Object.entries({ statement_timeout: `${timeoutSeconds}s`, ...settings });
  const set = all.map(([setting, value]) => `set local ${setting} = ${client.escapeLiteral(value)};`);
  await client.query(`begin ${access}; ${set.join(" ")}`);
  try {
    return await work();
  } finally {
    await client.query("rollback");
  }
}
