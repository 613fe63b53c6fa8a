/**
 * `svc db explain "SQL" --as USER`: the plan of a statement under a user's role and identity, policies included, with advice.
 * Next hop: `explain-statement.ts`, and `explain-generated.ts` for generated lists and gets; `plan.ts`; `plan-findings.ts`.
 */
import pg from "pg";
import { DefinitionError } from "../../kit/definition-error.ts";
import { withClient } from "../../postgres/with-client.ts";
import { databaseCommand, say } from "../command.ts";
import { flag, json, number, word } from "../options.ts";
import { print } from "../output.ts";
import { paint } from "../table.ts";
import { explainGenerated, isGenerated } from "./explain-generated.ts";
import { checkStatement, explainStatement } from "./explain-statement.ts";
import { as, identify } from "./identify.ts";
import { describePlan, type Plan } from "./plan.ts";
import { findInPlans, type PlanFinding } from "./plan-findings.ts";

export const command = databaseCommand("serving", {
  args: {
    statement: word("One statement, or a generated list or get, such as tasks.list."),
    as,
    args: json(
      "JSON: an array of values for $1, $2 and so on; for a list or get, its input. (Default: none)",
      '["open", 7]',
    ),
    analyze: flag("Run it to measure times, rows and buffers, then roll back."),
    timeout: number("Timeout in seconds.", { default: 60 }),
    json: flag("{as, analyzed, plans, findings} as JSON, for programs."),
  },
  check: ({ statement }) => {
    if (!isGenerated(statement)) checkStatement(statement);
  },
  run: async ({ urls }, { as, statement, args, analyze, timeout }) => {
    const { url, settings, who } = await identify(urls, as, application);
    const asked = { statement, args, analyze, timeoutSeconds: timeout, settings };
    const plans = isGenerated(statement)
      ? await connected(urls.admin, (client) => explainGenerated(client, asked))
      : [await connected(url, (client) => explainStatement(client, asked))];
    const findings = await connected(urls.system, (client) => findInPlans(plans, client));
    say(`As ${who}.`);
    const value = { as: who, analyzed: analyze, plans, findings };
    print(value, () => `${plans.map(describe).join("\n")}${findings.map(line).join("")}`);
  },
});

/** For pg_stat_activity. */
const application = "svc db explain";

/** @throws DefinitionError for an error of PostgreSQL in `work` */
const connected = <Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> =>
  withClient(url, application, (client) =>
    work(client).catch((error) => {
      throw error instanceof pg.DatabaseError ? refusal(error) : error;
    }),
  );

function refusal(error: pg.DatabaseError): DefinitionError {
  const { code, message, hint } = error;
  // The message is in the server's language, so the source routine identifies it.
  if (code === "42601" && error.routine === "exec_parse_message") {
    return new DefinitionError("That is more than one statement.", { hint: "Explain them one by one." });
  }
  return new DefinitionError(`PostgreSQL refused the statement: ${message}.`, {
    hint: hints[code ?? ""] ?? hint ?? "",
  });
}

const hints: Record<string, string> = {
  "08P01": `Give each of $1, $2 and so on a value: --args '["open", 7]'.`,
  "25006": "A function that it calls writes. Only the statement's own INSERT, UPDATE, DELETE and MERGE may.",
  "42501": "A request of this user gets the same error. Choose another user with --as.",
  "57014": "Raise --timeout; or leave out --analyze: it is then planned, not run.",
};

function describe(plan: Plan): string {
  const text = plan["Query Text"];
  return `${text === undefined ? "" : `${paint(text.trim(), 36)}\n`}${describePlan(plan)}`;
}

const line = ({ rule, name, problem, remedy }: PlanFinding) => `\n${paint(rule, 33)}  ${name}: ${problem}. ${remedy}\n`;
