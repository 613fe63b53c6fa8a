/**
 * `svc db lint`: reports problems in the database's schema, policies and grants.
 * Next hop: `sql/lint/`, one view per rule; `sql/lint/lint_schema.sql` runs them.
 */
import type pg from "pg";
import { withClient } from "../../postgres/with-client.ts";
import { say } from "../command.ts";
import { systemCommand } from "../inspect.ts";
import { choice, flag } from "../options.ts";
import { during, print } from "../output.ts";
import { paint } from "../table.ts";

export interface Finding {
  severity: Severity;
  rule: string;
  name: string;
  problem: string;
  remedy: string;
}

const colours = { error: 31, warning: 33, info: 36 } as const;
type Severity = keyof typeof colours;
const severities = Object.keys(colours) as Severity[];

export const command = systemCommand({
  args: {
    level: choice<Severity>(severities, `The lowest severity to list, of ${severities.join(", ")}.`, {
      default: "info",
    }),
    strict: flag("Exit code 1 for warnings too."),
    json: flag("A JSON array of {severity, rule, name, problem, remedy}."),
  },
  run: async (pool, { level, strict }) => {
    const all = await during("Looking through the schema", () => lintSchema(pool));
    const found = severities.flatMap((severity) => all.filter((finding) => finding.severity === severity));
    const listed = found.filter(({ severity }) => severities.indexOf(severity) <= severities.indexOf(level));
    print(listed, () => listed.map(describe).join("\n"));
    say(summary(found));
    const limit = strict ? ["error", "warning"] : ["error"];
    if (found.some(({ severity }) => limit.includes(severity))) process.exitCode = 1;
  },
});

/** Errors and warnings that a change of the schema has brought. */
export function newFindings(before: readonly Finding[], after: readonly Finding[]): Finding[] {
  const known = new Set(before.map((finding) => JSON.stringify(finding)));
  return after.filter((finding) => finding.severity !== "info" && !known.has(JSON.stringify(finding)));
}

/** What the linter finds; nothing in a database without the platform. */
export const findings = (adminUrl: string): Promise<Finding[]> =>
  withClient(adminUrl, "svc db lint", async (client) => {
    const { rows } = await client.query("select to_regproc('svc_private.lint_schema') is not null as is_there");
    return rows[0].is_there ? lintSchema(client) : [];
  });

export const lintSchema = async (client: Pick<pg.Pool, "query">): Promise<Finding[]> =>
  (await client.query<Finding>("select * from svc_private.lint_schema()")).rows;

export const describe = ({ severity, rule, name, problem, remedy }: Finding) =>
  `${paint(severity, colours[severity])}  ${name} ${problem}.\n  ${remedy}\n  rule: ${rule}\n`;

function summary(found: readonly Finding[]): string {
  const count = (severity: Severity, name: string) => {
    const number = found.filter((finding) => finding.severity === severity).length;
    return `${number} ${name}${number === 1 ? "" : "s"}`;
  };
  const counts = `${count("error", "error")}, ${count("warning", "warning")}, ${count("info", "hint")}.`;
  if (found.length === 0) return counts;
  return `${counts}\nTo allow a finding, write in a comment on the object: 'lint:allow RULE: the reason'.`;
}
