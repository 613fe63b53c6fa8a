/** People: users, their ways in, their sessions and API keys. Organizations are in `organizations.ts`. */
import { actButton, status } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, code, controls, copyButton, field, h, heading, later, link, plain, quiet, table } from "./dom.ts";
import { organizationOf, organizations, type Page, pages } from "./organizations.ts";
import { fresh, go, href, type State } from "./state.ts";
import { command, number, time } from "./texts.ts";
import type { Person, Session } from "./types.ts";

interface ApiKey {
  id: string;
  name: string;
  /** Its first characters. */
  start: string;
  scopes: string[];
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
}

interface Membership {
  org_id: string;
  org_name: string;
  role: string;
  created_at: string;
}

export function people(state: State): Child {
  const { user, organization, list: what } = state;
  if (user) return [heading("User"), later("the user", () => show(user, state))];
  if (organization) return organizationOf(organization, state);
  if (what === "organizations") {
    return [
      heading("Organizations"),
      search(state, "Name begins with, or id"),
      later("the organizations", () => organizations(state)),
    ];
  }
  return [heading("People"), search(state, "E-mail address begins with, or id"), later("the users", () => list(state))];
}

function search(state: State, label: string): HTMLElement {
  const input = h("input", { id: "search", type: "search", value: state.search ?? "", spellcheck: "false" });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    go(href({ search: input.value.trim() || null, after: null, id: null }));
  };
  return h("form", { onsubmit: submit }, h("label", { for: "search" }, label), input, h("button", {}, "Find"));
}

async function list(state: State): Promise<Child> {
  const input = { search: state.search ?? "", after: state.after ?? null };
  const { people, next, hasOrganizations } = await ask<{
    people: Person[];
    next: string | null;
    hasOrganizations: boolean;
  }>("people", input);
  const rows = people.map((person) => [
    link(fresh({ panel: "people", user: person.id }), person.email),
    person.name,
    person.email_verified ? "verified" : "not verified",
    person.providers.join(", ") || "none",
    number(person.sessions),
    time(person.created_at),
  ]);
  const head = ["E-mail address", "Name", "Address is", "Ways in", "Sessions", "Since"];
  return [
    hasOrganizations && plain(link(fresh({ panel: "people", list: "organizations" }), "Organizations")),
    rows.length > 0 ? table("Users", head, rows) : quiet(state.search ? "No user fits." : "Nobody has signed up yet."),
    controls(
      state.after && link(href({ after: null }), "First page"),
      next && link(href({ after: next }), "Next page"),
    ),
  ];
}

async function show(id: string, state: State): Promise<Child> {
  const [{ person, sessions }, keys, memberships, { mayAct }] = await Promise.all([
    ask<{ person: Person; sessions: Session[] }>("person", { id }),
    ask<Page<ApiKey>>("apiKeys", { of: id, before: state.before ?? null }),
    ask<Page<Membership>>("memberships", { of: id, after: state.after ?? null }),
    status(),
  ]);
  const { email } = person;
  const rows = sessions.map((session) => [
    session.visit === null ? (session.user_agent ?? "–") : `A visit of the administrator ${session.visit}`,
    session.ip_address ?? "–",
    time(session.created_at),
    time(session.updated_at),
    time(session.expires_at),
    ...(mayAct
      ? [
          actButton(
            "End",
            { act: "act_end_sessions", user: id, session: session.id },
            { on: `the session of ${time(session.created_at)}`, isFinal: true },
          ),
        ]
      : []),
  ]);
  const head = ["Device", "From", "Signed in at", "Used at", "Ends at", ...(mayAct ? ["Acts"] : [])];
  return [
    h(
      "dl",
      { class: "facts" },
      ...field("Id", id),
      ...field("E-mail address", `${email}, ${person.email_verified ? "verified" : "not verified"}`),
      ...field("Name", person.name),
      ...field("Ways in", person.providers.join(", ") || "none"),
      ...field("Since", time(person.created_at)),
    ),
    controls(
      link(fresh({ panel: "data", as: id }), "Data as this user"),
      link(fresh({ panel: "sql", as: id }), "SQL as this user"),
      copyButton("Copy the id", id),
      mayAct &&
        !person.email_verified &&
        actButton("Verify", { act: "act_verify_email", user: id }, { on: email, isFinal: true }),
    ),
    h("h2", {}, "Sessions"),
    rows.length > 0 ? table("Sessions", head, rows) : quiet("Signed in nowhere."),
    mayAct &&
      rows.length > 0 &&
      actButton(
        "End all sessions",
        { act: "act_end_sessions", user: id, session: null },
        { on: "of this user", isFinal: true },
      ),
    // Without any, the application may have none.
    (keys.rows.length > 0 || state.before) && [h("h2", {}, "API keys"), apiKeys(id, keys, mayAct, state)],
    (memberships.rows.length > 0 || state.after) && [
      h("h2", {}, "Organizations"),
      table(
        "Organizations of this user",
        ["Organization", "Role", "Since"],
        memberships.rows.map(({ org_id, org_name, role, created_at }) => [
          link(fresh({ panel: "people", organization: org_id }), org_name),
          role,
          time(created_at),
        ]),
      ),
      pages("after", memberships.next, state),
    ],
  ];
}

function apiKeys(user: string, { rows, next }: Page<ApiKey>, mayAct: boolean, state: State): Child {
  const head = ["Key", "Name", "Scopes", "Made at", "Used at", "Ends at", ...(mayAct ? ["Acts"] : [])];
  const revoke = (label: string, key: string | null, on: string) =>
    actButton(label, { act: "act_revoke_api_keys", key, user: key === null ? user : null }, { on, isFinal: true });
  return [
    table(
      "API keys",
      head,
      rows.map((key) => [
        code(`${key.start}…`),
        key.name,
        key.scopes.join(" "),
        time(key.created_at),
        time(key.last_used_at),
        [time(key.expires_at), Date.parse(key.expires_at) < Date.now() && h("small", {}, " It has expired.")],
        ...(mayAct ? [revoke("Revoke", key.id, `the key ${key.start}`)] : []),
      ]),
    ),
    pages("before", next, state),
    plain(
      mayAct && rows.length > 1 && revoke("Revoke all API keys", null, "of this user"),
      " ",
      copyButton("Copy as command", command("keys", "list", "--user", user)),
    ),
  ];
}
