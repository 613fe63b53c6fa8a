/**
 * Which policies admit or hide one row for a caller. The caller cannot query a hidden row. So each policy's expression is
 * evaluated as the caller on a copy of the row. Policies of other tables that the expression reads still apply.
 */
import { type Access, oneLine, type Policy } from "./access-rules.ts";

/** The result for one command. */
export interface Verdict {
  command: Access["command"];
  admitted: boolean;
  /** null where the policies decide. */
  reason: string | null;
  policies: { name: string; admits: boolean; condition: string }[];
}

/** Runs one statement as the caller, and returns its first row. */
export type AsCaller = (text: string, values: unknown[]) => Promise<Record<string, unknown>>;

/** The grant, then each policy's own result. @param row as the text of the table's row type */
export async function verdict(access: Access, row: string, asCaller: AsCaller): Promise<Verdict> {
  const { name, command, granted, policies, has_rls } = access;
  const because = (admitted: boolean, reason: string) => ({ command, admitted, reason, policies: [] });
  if (granted === null) return because(false, "there is no grant");
  if (!has_rls) return because(true, "row-level security is off");
  if (policies.length === 0) return because(false, "no policy applies to it");
  // Under the table's own name, because expressions may use it.
  const copy = `(select (one.row).* from (select $1::${name} as row offset 0) as one) as ${/("([^"]|"")*"|[^".]*)$/.exec(name)?.[0]}`;
  const passed = { permissive: false, restrictive: true };
  const results: Verdict["policies"] = [];
  for (const policy of policies) {
    const condition = conditionOf(policy, command);
    const { it } = await asCaller(`select coalesce((${condition}), false) as it from ${copy}`, [row]);
    if (policy.permissive) passed.permissive ||= it === true;
    else passed.restrictive &&= it === true;
    results.push({ name: policy.name, admits: it === true, condition: oneLine(condition) });
  }
  return { command, admitted: passed.permissive && passed.restrictive, reason: null, policies: results };
}

/** For an insert, the existing row is treated as a new one. */
const conditionOf = ({ using, check }: Policy, command: Access["command"]) =>
  (command === "insert" ? check : using) ?? "true";
