/**
 * The access rules of a table or view, read from the database, and in words. For `svc policies`, `svc rls explain` and Studio.
 * Next hop: `sql/catalog/list_access_rules.sql`; `row-access.ts` evaluates them for one row.
 */

export interface Access {
  relation: string;
  name: string;
  is_platform: boolean;
  /** Of a view: whether all of it is read with the rights of its caller. */
  has_rls: boolean;
  role: "svc_anonymous" | "svc_authenticated";
  command: "select" | "insert" | "update" | "delete";
  /** "all", a list of columns, or null without a grant. */
  granted: string | null;
  policies: Policy[];
  kind: "table" | "view";
  /** The tables that a view reads. */
  beneath: string[] | null;
}

export interface Policy {
  name: string;
  permissive: boolean;
  using: string | null;
  check: string | null;
  says: string | null;
}

/** One rule in words. */
export interface Words {
  /** Who may do what; it continues with the conditions, if there are any. */
  sentence: string;
  /** Permissive policies first. */
  conditions: { link: "" | "or " | "and " | "and in each case "; text: string; policy: string; says: string | null }[];
}

const callers = { svc_anonymous: "Visitors without an account", svc_authenticated: "Signed-in users" } as const;

export function wordsOf({ role, command, granted, policies, kind, beneath, has_rls }: Access): Words {
  const permissive = policies.filter((policy) => policy.permissive);
  const alone = (sentence: string): Words => ({ sentence, conditions: [] });
  if (granted === null) return alone(`${callers[role]} may not ${command}.`);
  if (kind === "view") {
    const tables = beneath?.join(", ") ?? "no table";
    return alone(
      has_rls
        ? `${callers[role]} may select what the policies of ${tables} show.`
        : `${callers[role]} may select all that its owner sees of ${tables}.`,
    );
  }
  if (permissive.length === 0) return alone(`${callers[role]} may ${command}, but no policy admits a row.`);
  const columns = granted === "all" ? "" : ` (${granted})`;
  const restrictive = policies.filter((policy) => !policy.permissive);
  // After several permissive policies a bare "and" would seem to belong to the last of them.
  const also = permissive.length > 1 ? "and in each case " : "and ";
  return {
    sentence: `${callers[role]} may ${command}${columns} rows where`,
    conditions: [...permissive, ...restrictive].map((policy, index) => ({
      link: index === 0 ? "" : policy.permissive ? "or " : also,
      text: condition(policy, command),
      policy: policy.name,
      says: policy.says,
    })),
  };
}

/** Of the new row for an insert; both for an update, where they differ. */
function condition({ using, check }: Policy, command: Access["command"]): string {
  const first = command === "insert" ? check : using;
  const then = command === "update" && check !== using ? `; and afterwards ${check}` : "";
  return oneLine(`${first ?? "true"}${then}`);
}

export const oneLine = (text: string) => text.replaceAll(/\s+/g, " ");
