/** The statements between two snapshots' policies. */
import { list, literal, mentions, qualified, quote } from "../../postgres/schema-names.ts";
import type { ColumnRef, Policy, Snapshot, Table } from "./snapshot.ts";

/**
 * A changed policy is dropped and recreated, because `alter policy` cannot change its command.
 *
 * @param before  with the new names
 * @param retyped columns that no policy may reference during conversion
 * @param gone    names of types and functions that no policy may use meanwhile, as they are made again
 */
export function diffPolicies(
  before: Snapshot,
  after: Snapshot,
  retyped: readonly ColumnRef[],
  gone: readonly string[] = [],
) {
  const secure: string[] = [];
  const drop: string[] = [];
  const create: string[] = [];
  for (const [key, table] of Object.entries(after.tables)) {
    const old: Table | undefined = before.tables[key];
    if (!old) secure.push(`alter table ${qualified(key)} enable row level security;`);
    const stays = (policy: Policy) =>
      !retyped.some((column) => reads(policy, key, column, before)) &&
      !gone.some((name) => mentions(textOf(policy), name));

    const statements = (of: Table | undefined) =>
      new Map(
        Object.values(of?.policies ?? {}).map((policy) => [policy.name, { policy, text: createPolicy(key, policy) }]),
      );
    const [had, wants] = [statements(old), statements(table)];
    for (const [name, { policy, text }] of had) {
      if (wants.get(name)?.text === text && stays(policy)) wants.delete(name);
      else drop.push(`drop policy ${quote(name)} on ${qualified(key)};`);
    }
    for (const { policy, text } of wants.values()) {
      create.push(text);
      if (policy.meaning === undefined) continue;
      create.push(`comment on policy ${quote(policy.name)} on ${qualified(key)} is ${literal(policy.meaning)};`);
    }
  }
  return { secure, drop, create };
}

/** Whether a policy may read a column, of its own or another table. False positives are possible. */
function reads(policy: Policy, key: string, { key: where, column }: ColumnRef, before: Snapshot) {
  const text = textOf(policy);
  return mentions(text, column) && (where === key || mentions(text, before.tables[where]?.name ?? column));
}

const textOf = ({ using = "", withCheck = "" }: Policy) => `${using} ${withCheck}`;

function createPolicy(key: string, { name, as, for: verb = "ALL", to = ["public"], using, withCheck }: Policy): string {
  const restrictive = as === "RESTRICTIVE" ? " as restrictive" : "";
  const head = `create policy ${quote(name)} on ${qualified(key)}${restrictive} for ${verb.toLowerCase()} to ${roles(to)}`;
  const clauses = [
    ...(using === undefined ? [] : [`using (${using})`]),
    ...(withCheck === undefined ? [] : [`with check (${withCheck})`]),
  ];
  return `${[head, ...clauses].join("\n  ")};`;
}

const keywords = ["public", "current_role", "current_user", "session_user"];

const roles = (names: readonly string[]) =>
  names.map((name) => (keywords.includes(name) ? name : list([name]))).join(", ");
