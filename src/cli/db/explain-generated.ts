/**
 * The plans inside a generated list or get. EXPLAIN does not look into its function, so the function is called in a read-only
 * transaction, and auto_explain logs the plans. Only a superuser may load auto_explain.
 * Next hop: `sql/crud/<prefix>.sql` of the application, for the statements.
 */
import pg from "pg";
import { DefinitionError } from "../../kit/definition-error.ts";
import { type Question, undone } from "./explain-statement.ts";
import { type Plan, type PlanNode, relationName } from "./plan.ts";

export const isGenerated = (text: string): boolean => /^\w+\.(list|get)$/.test(text);

/**
 * @param client the administrator's @returns the plan of each statement that reads a table, without duplicates, in the
 *   order in which they ended
 */
export async function explainGenerated(client: pg.Client, question: Question): Promise<Plan[]> {
  const { statement, args = {} } = question;
  const values = statement.endsWith(".get") ? getArguments(args) : [JSON.stringify(args)];
  const found = await client.query(
    `select format('svc_crud.%I', $1::text) as name, exists (
       select from pg_proc where pronamespace = to_regnamespace('svc_crud') and proname = $1 and pronargs = $2) as known`,
    [statement.replace(".", "_"), values.length],
  );
  const { name, known } = found.rows[0];
  if (!known) {
    throw new DefinitionError(`There is no generated ${statement.replace(/.*\./, "")} ${statement}.`, {
      hint: "Its name is createCrud's prefix and .list or .get, such as tasks.list. svc migrate applies new ones.",
    });
  }
  await loadAutoExplain(client, question, name);
  const plans: Plan[] = [];
  client.on("notice", ({ message = "" }) => {
    const start = message.indexOf("{");
    if (message.startsWith("duration") && start > 0) plans.push(JSON.parse(message.slice(start)));
  });
  const text = `select ${name}(${values.map((_, index) => `$${index + 1}`).join(", ")})`;
  await undone(client, question, "read only", () => client.query(text, values));
  const byText = new Map<unknown, Plan>();
  for (const plan of plans) {
    const own = plan["Query Text"];
    if (own !== text && !byText.has(own) && reads(plan.Plan)) byText.set(own, plan);
  }
  return [...byText.values()];
}

/** The id alone for a plain get, which has a function of its own. */
function getArguments(args: unknown): unknown[] {
  const { id, ...related } = Object(args);
  if (id === undefined || id === null) {
    throw new DefinitionError("A get is explained for the id of a row.", { hint: `Write --args '{"id": 7}'.` });
  }
  return Object.keys(related).length > 0 ? [id, JSON.stringify(related)] : [id];
}

/** Excludes statements that only build SQL from the input. */
const reads = (node: PlanNode): boolean => relationName(node) !== undefined || (node.Plans ?? []).some(reads);

async function loadAutoExplain(client: pg.Client, { analyze }: Question, name: string): Promise<void> {
  const settings = {
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_verbose": "on",
    "auto_explain.log_level": "notice",
    "auto_explain.log_analyze": analyze ? "on" : "off",
    "auto_explain.log_buffers": analyze ? "on" : "off",
    client_min_messages: "notice",
    // Otherwise the text before a plan is in the server's language.
    lc_messages: "C",
  };
  try {
    const set = Object.entries(settings).map(([setting, value]) => `set ${setting} = '${value}';`);
    await client.query(`load 'auto_explain'; ${set.join(" ")}`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    throw new DefinitionError(`The statements of ${name} cannot be shown: ${error.message}.`, {
      hint: "Only a superuser's DATABASE_ADMIN_URL may load auto_explain. Explain the statement in sql/crud instead.",
    });
  }
}
