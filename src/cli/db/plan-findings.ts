/**
 * Finds problems in a plan. It uses the sizes and policies of the plan's tables; `svc db lint` checks the schema.
 * Next hop: `plan.ts`.
 */
import type pg from "pg";
import { nodeName, type Plan, type PlanNode, relationName } from "./plan.ts";

export interface PlanFinding {
  rule: "policy_per_row" | "filtered_scan" | "whole_table" | "estimate_off" | "spilled";
  /** The node, as the plan names it. */
  name: string;
  problem: string;
  remedy: string;
}

/** Below this, a sequential scan is as good as an index. */
const manyRows = 5_000;
/**
 * A fraction of a table's rows. Above it, a sequential scan is as good as an index. For a caller's own rows the planner
 * only knows the average per owner; with a handful of owners that says nothing about one of them.
 */
const fewOfThem = 0.2;
/** Estimates are always inexact; a factor this large leads to a different plan. */
const farOff = 100;
/** Below this, even the worst plan is cheap. */
const fewRows = 1_000;

interface Table {
  name: string;
  /** As of the last ANALYZE; -1 before the first one. */
  rows: number;
  policies: { name: string; text: string }[];
}

/** @param system a connection that may read the catalogue */
export async function findInPlans(plans: readonly Plan[], system: pg.ClientBase): Promise<PlanFinding[]> {
  const nodes = plans.flatMap(({ Plan: root }) => [...walk(root, false)]);
  const tables = await readTables(system, nodes);
  return nodes.flatMap(({ node, cut }) => {
    const table = tables.get(relationName(node) ?? "");
    const found = [perRow(node, table), scan(node, table), ...wholeTables(node), estimate(node, cut), ...spills(node)];
    return found.filter((one) => one !== null).map((one) => ({ ...one, name: nodeName(node) }));
  });
}

type Found = Omit<PlanFinding, "name">;

/** All nodes, from the top. `cut`: a node above stops early, so fewer rows than planned are normal. */
function* walk(node: PlanNode, cut: boolean): Generator<{ node: PlanNode; cut: boolean }> {
  yield { node, cut };
  const stops = cut || node["Node Type"] === "Limit" || /Semi|Anti/.test(String(node["Join Type"]));
  for (const child of node.Plans ?? []) yield* walk(child, stops || child["Parent Relationship"] === "SubPlan");
}

async function readTables(system: pg.ClientBase, nodes: { node: PlanNode }[]): Promise<Map<string, Table>> {
  const names = [...new Set(nodes.map(({ node }) => relationName(node)).filter((name) => name !== undefined))];
  const { rows } = await system.query<Table>(
    `select format('%s.%s', n.nspname, c.relname) as name, c.reltuples as rows,
            coalesce((select jsonb_agg(jsonb_build_object('name', p.policy, 'text', concat(p.using_text, ' ', p.check_text)))
                        from svc_private.policy_rules p where p.relid = c.oid), '[]') as policies
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where format('%s.%s', n.nspname, c.relname) = any ($1)`,
    [names],
  );
  return new Map(rows.map((row) => [row.name, row]));
}

/**
 * Calls whose result is the same for all rows: without arguments, or with the name of a setting. PostgreSQL's own
 * functions are cheap.
 */
const constantCall = /[\w."]+\(\)|current_setting\([^()]*\)/g;
const cheap = /^(now|random|gen_random_uuid|(clock|statement|transaction)_timestamp)\(/;
const wrapped = /\( SELECT [^()]*(\w\(\)|current_setting\([^()]*\))[^()]*\)/g;

/** A policy's condition that is evaluated for every row, because it is not in a sub-select. */
function perRow(node: PlanNode, table: Table | undefined): Found | null {
  const filter = String(node.Filter ?? "");
  const calls = (filter.match(constantCall) ?? []).filter((call) => !cheap.test(call));
  if (!table || calls.length === 0) return null;
  for (const policy of table.policies) {
    const bare = policy.text.replaceAll(wrapped, "").match(constantCall) ?? [];
    // svc.current_user_id() is inlined, so the plan shows its body.
    const call = bare.find((one) => calls.includes(one) || (isIdentity(one) && calls.some(isIdentity)));
    if (!call) continue;
    return {
      rule: "policy_per_row",
      problem: `the policy ${policy.name} of ${table.name} evaluates ${call} once per row`,
      remedy: `Write (select ${call}) in it: it is then evaluated once per statement.`,
    };
  }
  return null;
}

const isIdentity = (call: string) =>
  call === "svc.current_user_id()" || call.startsWith("current_setting('svc.user_id'");

function scan(node: PlanNode, table: Table | undefined): Found | null {
  if (node["Node Type"] !== "Seq Scan" || !node.Filter || !table) return null;
  const loops = numberOf(node, "Actual Loops");
  // A parallel worker counts only its share of the rows; other nodes count rows per loop.
  const shares = node["Parallel Aware"] ? Math.max(loops, 1) : 1;
  const kept = shares * numberOf(node, loops > 0 ? "Actual Rows" : "Plan Rows");
  const rows = loops > 0 ? kept + shares * numberOf(node, "Rows Removed by Filter") : table.rows;
  if (rows < manyRows || kept > rows * fewOfThem) return null;
  return {
    rule: "filtered_scan",
    problem: `${Math.round(rows)} rows are read, and ${loops > 0 ? "" : "about "}${Math.round(kept)} kept by ${node.Filter}`,
    remedy: "An index on the columns of this condition reads only those rows.",
  };
}

/**
 * Tables that are read at once for a condition on few rows. PostgreSQL prefers that to a look-up for each of the rows that it
 * expects, and does not see a limit above the scan.
 */
function wholeTables(node: PlanNode): Found[] {
  const asked = examined(node);
  return (node.Plans ?? [])
    .filter((child) => String(node.Filter).includes(`(hashed ${child["Subplan Name"]})`))
    .filter((child) => examined(child) >= Math.max(manyRows, asked * 10))
    .map((child) => ({
      rule: "whole_table",
      problem: `${examined(child)} rows of ${relationName(child) ?? "another table"} are read at once to check ${asked}`,
      remedy:
        "If a unique key finds the row, write (select true from … where …) in place of exists (select from … where …): " +
        "each row is then looked up.",
    }));
}

/** Rows that a scan has read. */
const examined = (node: PlanNode) => numberOf(node, "Actual Rows") + numberOf(node, "Rows Removed by Filter");

/** The node where a wrong estimate begins; the nodes above inherit it. */
function estimate(node: PlanNode, cut: boolean): Found | null {
  if (!isOff(node, cut) || node.Plans?.some((child) => isOff(child, cut || node["Node Type"] === "Limit"))) return null;
  return {
    rule: "estimate_off",
    problem: `${node["Plan Rows"]} rows were estimated, and ${node["Actual Rows"]} returned`,
    remedy: "ANALYZE the table; if that does not help, CREATE STATISTICS on columns that depend on each other.",
  };
}

function isOff(node: PlanNode, cut: boolean): boolean {
  if (numberOf(node, "Actual Loops") === 0) return false;
  const [planned, actual] = [numberOf(node, "Plan Rows"), numberOf(node, "Actual Rows")];
  const isMore = actual > planned;
  if (Math.max(planned, actual) < fewRows || (cut && !isMore)) return false;
  return Math.max(planned, actual) > farOff * Math.max(1, Math.min(planned, actual));
}

function spills(node: PlanNode): Found[] {
  const found: Found[] = [];
  const workers = (node.Workers ?? []) as Record<string, unknown>[];
  const onDisk = [node, ...workers].find((one) => one["Sort Space Type"] === "Disk");
  const remedy = "Fewer rows or columns would fit; so would a larger work_mem for this statement.";
  if (onDisk) {
    const problem = `${onDisk["Sort Space Used"]} kB were sorted on disk`;
    found.push({ rule: "spilled", problem, remedy: `An index in this order needs no sort. ${remedy}` });
  }
  // The batches are also planned, but EXPLAIN shows them only with --analyze.
  if (numberOf(node, "Hash Batches") > 1) {
    found.push({ rule: "spilled", problem: `the hash table went to disk in ${node["Hash Batches"]} parts`, remedy });
  }
  if (numberOf(node, "HashAgg Batches") > 1 || [node, ...workers].some((one) => numberOf(one, "Disk Usage") > 0)) {
    found.push({ rule: "spilled", problem: `groups went to disk, ${node["Disk Usage"] ?? "some"} kB`, remedy });
  }
  return found;
}

const numberOf = (node: Record<string, unknown>, key: string) => Number(node[key] ?? 0);
