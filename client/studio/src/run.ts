/** Run: a query or mutation as a user, rolled back. Nothing runs before the button is pressed. */
import { ask } from "./api.ts";
import { append, type Child, controls, copyButton, h, heading, later, problem, quiet, table } from "./dom.ts";
import { go, href, type State } from "./state.ts";
import { time } from "./texts.ts";
import type { DryRun, Field, Operation } from "./types.ts";
import { viewer } from "./viewer.ts";

export const run = (state: State): Child => [
  heading("Run"),
  viewer(state.as),
  later("the operations", async () => choice(await ask<Operation[]>("operations"), state)),
];

function choice(all: readonly Operation[], state: State): Child {
  if (all.length === 0) return quiet("The application has no query and no mutation yet.");
  const chosen = all.find(({ name }) => name === state.name);
  const select = h(
    "select",
    { id: "operation" },
    !chosen && h("option", { value: "" }, "choose one"),
    ...all.map(({ name, kind }) => h("option", { value: name, selected: name === state.name }, `${name}, ${kind}`)),
  );
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    go(href({ name: select.value || null, args: null }));
  };
  return [
    h(
      "form",
      { onsubmit: submit, "aria-label": "Choice of an operation" },
      h("label", { for: "operation" }, "Operation"),
      select,
      h("button", {}, "Choose"),
    ),
    chosen ? operation(chosen, state) : promise(),
  ];
}

const promise = () => [
  quiet(
    "A dry run does everything that the call does, in its transaction, shows what it did, and rolls it back. Other ",
    "connections to the database only read, and fetch sends nothing: what needs them is refused, and told.",
  ),
  quiet(
    "It cannot undo what a handler does by other means, such as a mail that a library sends over SMTP, or a file that ",
    "it writes itself. Numbers of sequences are used up.",
  ),
];

function operation({ name, kind, says, fields, takesFiles }: Operation, state: State): Child {
  if (takesFiles) return quiet(`${name} takes files, which a dry run cannot send.`);
  const text = h("textarea", { id: "args", rows: 5, spellcheck: "false" }, state.args ?? "{}");
  const place = h("div", { "aria-live": "polite" });
  const read = (): Record<string, unknown> => JSON.parse(text.value);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    place.replaceChildren(h("p", { class: "quiet", "aria-busy": "true" }, "Running …"));
    try {
      const args = read();
      // Kept in the address, where a reload finds them; a reload runs nothing.
      history.replaceState(null, "", href({ args: text.value }));
      const done = await ask<DryRun>("dryRun", { name, as: state.as ?? null, args });
      place.replaceChildren();
      append(place, [outcome(done), copies(name, kind, args)]);
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  };
  return [
    quiet(`${says}.`),
    h(
      "form",
      { onsubmit: submit, "aria-label": "Arguments" },
      fields.map((field) => control(field, text)),
      h("label", { for: "args" }, "Arguments as JSON"),
      text,
      h("button", {}, "Dry run"),
    ),
    promise(),
    place,
  ];
}

/** A control that writes one member of the JSON. Members of other types are written there. */
function control({ name, type, values, required, says }: Field, text: HTMLTextAreaElement): Child {
  if (type === "json") return null;
  const id = `member-${name}`;
  const choices = type === "boolean" ? ["true", "false"] : values;
  const now = member(text, name);
  const input =
    choices.length > 0
      ? h(
          "select",
          { id },
          h("option", { value: "" }, "left out"),
          ...choices.map((value) => h("option", { value, selected: String(now) === value }, value)),
        )
      : h("input", { id, type: "text", spellcheck: "false", value: now === undefined ? "" : String(now) });
  input.addEventListener("input", () => {
    const { value } = input;
    const number = Number(value);
    const known = type === "boolean" ? value === "true" : type === "string" || type === "choice" ? value : number;
    // What is no number stays text: the answer then says what is wrong with it.
    write(text, name, value === "" ? undefined : Number.isNaN(known) ? value : known);
  });
  return h("span", { class: "member" }, h("label", { for: id, title: says }, name, required ? " *" : ""), input);
}

function member(text: HTMLTextAreaElement, name: string): unknown {
  try {
    return JSON.parse(text.value)[name];
  } catch {
    return undefined;
  }
}

function write(text: HTMLTextAreaElement, name: string, value: unknown): void {
  let known: object = {};
  try {
    known = JSON.parse(text.value);
  } catch {
    // What is no JSON is written anew.
  }
  text.value = JSON.stringify({ ...known, [name]: value }, null, 2);
}

const list = (title: string, lines: readonly string[]): Child =>
  lines.length > 0 && [h("h3", {}, title), h("ul", {}, ...lines.map((line) => h("li", {}, line)))];

function outcome({ status, answer, rows, jobs, messages, refused }: DryRun): Child {
  const counts = rows.map((row) => [row.table, row.inserted, row.updated, row.deleted, row.followed ? "yes" : "no"]);
  const did = rows.length + jobs.length + messages.length > 0;
  return [
    h("h2", {}, status === 200 ? "It would succeed" : `It would fail with ${status}`),
    h("pre", { tabindex: 0, "aria-label": "Answer" }, JSON.stringify(answer, null, 2)),
    list("Refused: a rollback would not undo it", refused),
    rows.length > 0 && [
      h("h3", {}, "Rows"),
      table("Rows written", ["Table", "Inserted", "Updated", "Deleted", "Watchers hear of it"], counts),
    ],
    list(
      "Jobs",
      jobs.map(({ name, due }) => `${name}, due ${time(due)}`),
    ),
    list(
      "Messages to watchers",
      messages.map((message) => JSON.stringify(message)),
    ),
    quiet(did ? "All of it is rolled back." : "It wrote nothing that a rollback had to undo."),
  ];
}

function copies(name: string, kind: string, args: object): Child {
  const body = JSON.stringify({ args }).replaceAll("'", "'\\''");
  const call = `${kind === "query" ? "query" : "mutate"}(api.${name}, ${JSON.stringify(args)})`;
  return controls(
    copyButton(
      "Copy as curl",
      `curl -s "$URL/api/${kind}/${name}" -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '${body}'`,
    ),
    copyButton("Copy as TypeScript", `await client.${call};`),
    copyButton(
      "Copy as test",
      `test("${name}", async () => {\n  const user = await app.asUser();\n  const result = await user.${call};\n  assert.ok(result);\n});`,
    ),
  );
}
