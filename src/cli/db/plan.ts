/**
 * Parses a plan from EXPLAIN (format json) and prints it as psql does. JSON is needed because a second EXPLAIN ANALYZE
 * would run the statement again.
 * Next hop: `plan-findings.ts`, which judges it.
 */

export interface PlanNode {
  "Node Type": string;
  Plans?: PlanNode[];
  [property: string]: unknown;
}

export interface Plan {
  Plan: PlanNode;
  /** Of a statement inside a function. */
  "Query Text"?: string;
  [property: string]: unknown;
}

/** Properties that a node's own line already shows, or that do not help a reader. */
const shownElsewhere = new Set(
  (
    "Node Type,Plans,Output,Alias,Schema,Relation Name,Index Name,CTE Name,Function Name,Join Type,Strategy,Partial Mode," +
    "Operation,Scan Direction,Parallel Aware,Async Capable,Parent Relationship,Subplan Name,Startup Cost,Total Cost," +
    "Plan Rows,Plan Width,Actual Startup Time,Actual Total Time,Actual Rows,Actual Loops,Workers,Disabled"
  ).split(","),
);
const blocks = /^(Shared|Local|Temp) (Hit|Read|Dirtied|Written) Blocks$/;
const kilobytes = new Set(["Sort Space Used", "Peak Memory Usage", "Disk Usage", "Maximum Storage"]);

export function describePlan(plan: Plan): string {
  const lines = describeNode(plan.Plan, 0);
  for (const { "Trigger Name": name, Relation, Time, Calls } of (plan.Triggers ?? []) as Record<string, unknown>[]) {
    lines.push(`Trigger ${name} on ${Relation}: time=${Time} calls=${Calls}`);
  }
  for (const key of ["Planning Time", "Execution Time"]) {
    if (plan[key] !== undefined) lines.push(`${key}: ${plan[key]} ms`);
  }
  return `${lines.join("\n")}\n`;
}

/** @param column where the node's name begins */
function describeNode(node: PlanNode, column: number): string[] {
  const indent = " ".repeat(column + 2);
  const lines = [`${arrow(column)}${nodeName(node)}  ${figures(node)}`];
  for (const detail of details(node)) lines.push(indent + detail);
  for (const child of node.Plans ?? []) {
    const label = child["Subplan Name"];
    if (label) lines.push(indent + label);
    lines.push(...describeNode(child, column + (label ? 8 : 6)));
  }
  return lines;
}

const arrow = (column: number) => (column === 0 ? "" : `${" ".repeat(column - 4)}->  `);

const aggregates: Record<string, string> = {
  Sorted: "GroupAggregate",
  Hashed: "HashAggregate",
  Mixed: "MixedAggregate",
};

/** As EXPLAIN writes it: `Parallel Seq Scan on public.tasks t`. */
export function nodeName(node: PlanNode): string {
  let name = node["Node Type"];
  if (name === "Aggregate") name = aggregates[String(node.Strategy)] ?? name;
  if (name === "ModifyTable") name = String(node.Operation);
  const join = node["Join Type"];
  if (join !== undefined && join !== "Inner") name = `${name.replace(/ Join$/, "")} ${join} Join`;
  if (node["Partial Mode"] && node["Partial Mode"] !== "Simple") name = `${node["Partial Mode"]} ${name}`;
  if (node["Parallel Aware"]) name = `Parallel ${name}`;
  if (node["Scan Direction"] === "Backward") name += " Backward";
  const relation = relationName(node);
  const source = relation ?? node["CTE Name"] ?? node["Function Name"];
  const alias = node.Alias !== undefined && node.Alias !== node["Relation Name"] ? ` ${node.Alias}` : "";
  if (node["Index Name"]) name += ` ${relation ? "using" : "on"} ${node["Index Name"]}`;
  return source === undefined ? name : `${name} on ${source}${alias}`;
}

/** `schema.table` of a scan; undefined for other nodes. */
export const relationName = (node: PlanNode): string | undefined =>
  node["Relation Name"] === undefined ? undefined : `${node.Schema}.${node["Relation Name"]}`;

function figures(node: PlanNode): string {
  const range = (from: string, to: string) => [node[from], node[to]].map((one) => Number(one).toFixed(2)).join("..");
  const planned = `(cost=${range("Startup Cost", "Total Cost")} rows=${node["Plan Rows"]} width=${node["Plan Width"]})`;
  if (node["Actual Loops"] === undefined) return planned;
  if (node["Actual Loops"] === 0) return `${planned} (never executed)`;
  const time =
    node["Actual Total Time"] === undefined ? "" : `time=${range("Actual Startup Time", "Actual Total Time")} `;
  return `${planned} (actual ${time}rows=${node["Actual Rows"]} loops=${node["Actual Loops"]})`;
}

function details(node: PlanNode): string[] {
  const lines: string[] = [];
  const buffers: string[] = [];
  for (const [key, value] of Object.entries(node)) {
    const block = blocks.exec(key);
    if (block && value) buffers.push(`${block[1]} ${block[2]}=${value}`.toLowerCase());
    if (block || shownElsewhere.has(key) || value === 0 || value === false) continue;
    const texts = [value].flat().map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one)));
    lines.push(`${key}: ${texts.join(", ")}${kilobytes.has(key) ? " kB" : ""}`);
  }
  return buffers.length > 0 ? [...lines, `Buffers: ${buffers.join(", ")}`] : lines;
}
