/** People: users, their ways in and their sessions. */
import { actButton, status } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, copyButton, field, h, later, number, table, time } from "./dom.ts";
import { fresh, go, href, type State } from "./state.ts";
import type { Person, Session } from "./types.ts";

export function people(state: State): Child {
  return [
    h("h1", { tabindex: -1 }, state.user ? "User" : "People"),
    state.user
      ? later("the user", () => show(state.user as string))
      : [search(state), later("the users", () => list(state))],
  ];
}

function search(state: State): HTMLElement {
  const input = h("input", { id: "search", type: "search", value: state.search ?? "", spellcheck: "false" });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    go(href({ search: input.value.trim() || null, after: null }));
  };
  return h(
    "form",
    { onsubmit: submit },
    h("label", { for: "search" }, "E-mail address begins with, or id"),
    input,
    h("button", {}, "Find"),
  );
}

async function list(state: State): Promise<Child> {
  const input = { search: state.search ?? "", after: state.after ?? null };
  const { people, next } = await ask<{ people: Person[]; next: string | null }>("people", input);
  const rows = people.map((person) => [
    h("a", { href: fresh({ panel: "people", user: person.id }) }, person.email),
    person.name,
    person.email_verified ? "verified" : "not verified",
    person.providers.join(", ") || "none",
    number(person.sessions),
    time(person.created_at),
  ]);
  const head = ["E-mail address", "Name", "Address is", "Ways in", "Sessions", "Since"];
  return [
    rows.length > 0
      ? table("Users", head, rows)
      : h("p", { class: "quiet" }, state.search ? "No user fits." : "Nobody has signed up yet."),
    h(
      "p",
      { class: "pages" },
      state.after && h("a", { href: href({ after: null }) }, "First page"),
      next && h("a", { href: href({ after: next }) }, "Next page"),
    ),
  ];
}

async function show(id: string): Promise<Child> {
  const [{ person, sessions }, { mayAct }] = await Promise.all([
    ask<{ person: Person; sessions: Session[] }>("person", { id }),
    status(),
  ]);
  const { email } = person;
  const rows = sessions.map((session) => [
    session.user_agent ?? "–",
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
    h(
      "p",
      { class: "pages" },
      h("a", { href: fresh({ panel: "data", as: id }) }, "Data as this user"),
      h("a", { href: fresh({ panel: "sql", as: id }) }, "SQL as this user"),
      copyButton("Copy the id", id),
      mayAct &&
        !person.email_verified &&
        actButton("Verify", { act: "act_verify_email", user: id }, { on: email, isFinal: true }),
    ),
    h("h2", {}, "Sessions"),
    rows.length > 0 ? table("Sessions", head, rows) : h("p", { class: "quiet" }, "Signed in nowhere."),
    mayAct &&
      rows.length > 1 &&
      actButton(
        "End all sessions",
        { act: "act_end_sessions", user: id, session: null },
        { on: "of this user", isFinal: true },
      ),
  ];
}
