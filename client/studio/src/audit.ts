/** Audit: what changed in audited tables, and in one row with its values. */
import { ask } from "./api.ts";
import { type Child, code, controls, copyButton, h, heading, later, link, quiet, table } from "./dom.ts";
import { keyOf } from "./row.ts";
import { fresh, href, type State } from "./state.ts";
import { command, time } from "./texts.ts";
import type { Entry } from "./types.ts";
import { userLink } from "./user-link.ts";
import { viewer } from "./viewer.ts";

interface Page {
  entries: Entry[];
  next: string | null;
  /** The row's key as entries have it; null: of all rows. */
  row: string | null;
}

export function audit(state: State): Child {
  const isRow = Boolean(state.table && (state.key || state.of));
  return [
    heading(state.table ? `History of ${state.table}` : "Audit"),
    isRow && viewer(state.as),
    later("the history", () => entries(state)),
  ];
}

async function entries(state: State): Promise<Child> {
  const name = state.table ?? null;
  const before = /^\d{1,18}$/.test(state.before ?? "") ? (state.before ?? null) : null;
  const key = state.key ? keyOf(state.key) : null;
  const input = { table: name, key, row: state.of || null, as: state.as ?? null, before };
  const page = await ask<Page>("audit", input);
  const isRow = name !== null && (key !== null || input.row !== null);
  const head = ["At", ...(isRow ? [] : ["Row"]), "What", "Who", "By", "Request", "Changed"];
  const rows = page.entries.map((entry) => [
    time(entry.at),
    ...(isRow ? [] : [rowOf(entry)]),
    entry.operation,
    entry.actor ? userLink(entry.actor) : "–",
    [entry.via, entry.login].filter(Boolean).join(", "),
    requestOf(entry.request),
    isRow ? changes(entry) : entry.columns.join(", "),
  ]);
  const options = [...(name ? [name.replace(/^public\./, "")] : []), ...(page.row ? ["--row", page.row] : [])];
  return [
    rows.length > 0
      ? table(isRow ? "What changed in the row, newest first" : "What changed, newest first", head, rows)
      : quiet("No entry. ", code("audited()"), " in a table's third argument keeps them."),
    isRow &&
      page.entries.some(({ changed }) => changed === null) &&
      quiet("This viewer does not see the row, or not in these entries: values are not shown."),
    controls(
      (name || before) && link(fresh({ panel: "audit" }), "All tables"),
      isRow && link(fresh({ panel: "audit", table: name }), `All rows of ${name}`),
      before && link(href({ before: null }), "Newest"),
      page.next && link(href({ before: page.next }), "Older"),
      copyButton("Copy as command", command("audit", ...options)),
    ),
  ];
}

const rowOf = ({ relation, row_id, audited }: Entry): Child => {
  const text = `${relation.replace(/^public\./, "")} ${row_id ?? "(all)"}`;
  return row_id !== null && audited ? link(fresh({ panel: "audit", table: relation, of: row_id }), text) : text;
};

/** A request leads to its trace, a run to its steps. */
function requestOf(request: string | null): Child {
  const [kind, id] = request?.split(":", 2) ?? [];
  if (!request || kind === "job") return request ?? "–";
  const address =
    kind === "run" && id ? fresh({ panel: "workflows", run: id }) : fresh({ panel: "requests", trace: request });
  return link(address, request);
}

function changes({ columns, changed }: Entry): Child {
  if (changed === null) return columns.join(", ");
  return h(
    "dl",
    { class: "facts" },
    ...columns.flatMap((column) => [h("dt", {}, column), h("dd", {}, told(changed, column))]),
  );
}

const told = (changed: NonNullable<Entry["changed"]>, column: string): Child => {
  if (!Object.hasOwn(changed, column)) return h("i", {}, "not for this viewer");
  const pair = changed[column];
  return pair ? [value(pair[0]), " → ", value(pair[1])] : h("i", {}, "not kept");
};

const value = (text: string | null): Child => (text === null ? h("i", {}, "null") : text);
