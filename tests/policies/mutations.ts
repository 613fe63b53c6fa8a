/** All ways we know to break a policy, for mutants.test.ts. */
import type { SQL } from "drizzle-orm";
import { PgDialect, type PgPolicy, type PgRole } from "drizzle-orm/pg-core";

export const ann = "00000000-0000-4000-8000-00000000000a";
export const bob = "00000000-0000-4000-8000-00000000000b";

/** A policy as in `create policy`. */
interface Policy {
  name: string;
  kind: "permissive" | "restrictive";
  verb: string;
  roles: string[];
  using: string | undefined;
  check: string | undefined;
}

const dialect = new PgDialect();
const render = (condition?: SQL) => condition && dialect.sqlToQuery(condition.inlineParams()).sql;
export const rendered = ({ name, for: verb = "all", to, using, withCheck }: PgPolicy): Policy => ({
  name,
  kind: "permissive",
  verb,
  roles: [to ?? "public"].flat().map((role) => (typeof role === "string" ? role : (role as PgRole).name)),
  using: render(using),
  check: render(withCheck),
});
export const createPolicy = (table: string, { name, kind, verb, roles, using, check }: Policy) =>
  `create policy ${name} on ${table} as ${kind} for ${verb} to ${roles.join(", ")}
   ${using ? `using (${using})` : ""} ${check ? `with check (${check})` : ""};`;

const identity = "(select svc.current_user_id())";
/** Ways to break a condition. A way that changes nothing is not a mutation. */
const breaks: Record<string, (condition: string) => string> = {
  true: () => "true",
  false: () => "false",
  negated: (condition) => (condition === "true" ? condition : `not (${condition})`),
  "another column": (condition) => condition.replace('"owner"', '"other"'),
  "is not distinct from": (condition) => condition.replace(` = ${identity}`, ` is not distinct from ${identity}`),
  "is distinct from": (condition) => condition.replace(` = ${identity}`, ` is distinct from ${identity}`),
  "or nobody is signed in": (condition) => (condition === "true" ? condition : `${condition} or ${identity} is null`),
  "or nobody owns it": (condition) => (condition === "true" ? condition : `${condition} or owner is null`),
  "the role's name": (condition) => condition.replace(identity, "current_user::text"),
  "always Bob": (condition) => condition.replace(identity, `(select '${bob}'::text)`),
  "identity asked per row": (condition) => condition.replace(identity, "svc.current_user_id()"),
  "members of any team": (condition) => condition.replace(/ where .*(?=\)\)$)/, ""),
  "not in": (condition) => condition.replace(" = any (", " <> all ("),
  "in some team": (condition) => condition.replace(/^("\w+")(.*?array\(select )"\w+"\."owner"/, '$1$2$1."owner"'),
  "the other team": (condition) => condition.replace(/array\(select ("\w+")\."owner"/, 'array(select $1."other"'),
  "of any role": (condition) => condition.replace(/my_orgs\(.*?\)/, "my_orgs()"),
  "of another role": (condition) => condition.replace("my_orgs('owner')", "my_orgs('member')"),
  "of an owner": (condition) => condition.replace("my_orgs()", "my_orgs('owner')"),
  "the other user": (condition) => condition.replace('"user_id"', '"other"'),
};

/** A policy that is broken in one way; null when it is removed. */
interface Mutant {
  what: string;
  policy: Policy | null;
}
export function mutantsOf(policy: Policy): Mutant[] {
  const found: Mutant[] = [
    { what: "dropped", policy: null },
    { what: "restrictive", policy: { ...policy, kind: "restrictive" } },
    { what: "for all", policy: { ...policy, verb: "all" } },
  ];
  for (const role of ["svc_anonymous", "svc_authenticated"]) {
    const rest = policy.roles.filter((one) => one !== role);
    if (rest.length === policy.roles.length) {
      found.push({ what: `also to ${role}`, policy: { ...policy, roles: [...rest, role] } });
      found.push({ what: `to ${role} instead`, policy: { ...policy, roles: [role] } });
    } else if (rest.length > 0) found.push({ what: `not to ${role}`, policy: { ...policy, roles: rest } });
  }
  for (const clause of ["using", "check"] as const) {
    const condition = policy[clause];
    if (condition === undefined) continue;
    found.push({ what: `${clause}: none`, policy: { ...policy, [clause]: undefined } });
    for (const [what, change] of Object.entries(breaks)) {
      const changed = change(condition);
      if (changed !== condition) found.push({ what: `${clause}: ${what}`, policy: { ...policy, [clause]: changed } });
    }
  }
  return found;
}
