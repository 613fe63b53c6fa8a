/** Policies: which role may do what to which rows, in words and in SQL. */
import { ask } from "./api.ts";
import { type Child, code, h, heading, later, plain, quiet, table } from "./dom.ts";
import { fresh, href, type State } from "./state.ts";
import { identifier } from "./texts.ts";
import type { Rule } from "./types.ts";

const commands = ["select", "insert", "update", "delete"] as const;
const roles = { svc_anonymous: "Without an account", svc_authenticated: "Signed-in users" } as const;

export function policies(state: State): Child {
  return [
    heading(state.table ? `Policies of ${state.table}` : "Policies"),
    later("the policies", async () => {
      const rules = await ask<Rule[]>("policies", { table: state.table ?? null });
      return state.table ? one(rules) : overview(rules, state.all === "1");
    }),
  ];
}

function overview(rules: readonly Rule[], all: boolean): Child {
  const tables = Map.groupBy(
    rules.filter(({ is_platform }) => all || !is_platform),
    ({ name }) => name,
  );
  const head = ["Table or view", ...Object.values(roles).flatMap((who) => commands.map((what) => `${who}: ${what}`))];
  const rows = [...tables].map(([name, its]) => [
    h("a", { href: fresh({ panel: "policies", table: name }) }, name),
    ...Object.keys(roles).flatMap((role) =>
      commands.map((command) => mark(its.find((rule) => rule.role === role && rule.command === command))),
    ),
  ]);
  return [
    rows.length > 0
      ? table("Role, command and table", head, rows)
      : quiet("The application has no table yet: add one to schema.ts."),
    plain(
      h(
        "a",
        { href: href({ all: all ? null : "1" }) },
        all ? "Only the application's tables" : "The platform's tables too",
      ),
    ),
  ];
}

/** One word for a rule. */
function mark(rule: Rule | undefined): Child {
  if (!rule || rule.granted === null) return h("span", { class: "quiet" }, "no grant");
  if (!rule.has_rls) return h("b", { class: "no" }, "all rows");
  if (rule.kind === "view") return h("b", { class: "yes" }, "as its tables");
  const permissive = rule.policies.filter((policy) => policy.permissive);
  if (permissive.length === 0) return h("span", { class: "quiet" }, "no row");
  const isOpen = permissive.some(({ using, check }) => (rule.command === "insert" ? check : using) === "true");
  return h("b", { class: "yes" }, isOpen ? "any row" : "some rows");
}

function one(rules: readonly Rule[]): Child {
  const [first] = rules;
  if (!first) return plain("There is no such table.");
  return [
    first.kind === "table" && plain(h("a", { href: fresh({ panel: "data", table: first.name }) }, "Look at its rows")),
    !first.has_rls &&
      h(
        "p",
        { class: "problem" },
        first.kind === "table"
          ? "Row-level security is off: a grant is for all rows."
          : "This view, or one beneath it, lacks security_invoker: policies do not count.",
      ),
    ...rules.map((rule) =>
      h(
        "section",
        {},
        h("h2", {}, `${roles[rule.role]}: ${rule.command}`),
        plain(rule.words.sentence),
        rule.words.conditions.length > 0 &&
          h(
            "ul",
            {},
            ...rule.words.conditions.map(({ link, text, policy, says }) =>
              h("li", {}, link, code(text), h("small", {}, ` ${policy}${says ? `: ${says}` : ""}`)),
            ),
          ),
        h("details", {}, h("summary", {}, "As SQL"), h("pre", { tabindex: 0 }, sql(rule))),
      ),
    ),
  ];
}

function sql({ name, role, command, granted, policies: its }: Rule): string {
  const columns = granted === null || granted === "all" ? "" : ` (${granted})`;
  const grant = granted === null ? `-- no grant of ${command}` : `grant ${command}${columns} on ${name} to ${role};`;
  const statements = its.map(
    ({ name: policy, permissive, using, check }) =>
      `create policy ${identifier(policy)} on ${name}${permissive ? "" : " as restrictive"}\n  for ${command} to ${role}` +
      `${using === null ? "" : `\n  using (${using})`}${check === null ? "" : `\n  with check (${check})`};`,
  );
  return [grant, ...statements].join("\n");
}
