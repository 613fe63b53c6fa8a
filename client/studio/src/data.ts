/** Data: rows of any table as anybody sees them. */
import { mayAct } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, controls, copyButton, h, heading, later, link, plain, quiet, table } from "./dom.ts";
import { newRow, stagedChanges } from "./edits.ts";
import { keyOf, nameOfRow, openRow } from "./row.ts";
import { fresh, go, href, type State } from "./state.ts";
import { command, number } from "./texts.ts";
import type { Column, Row, Rows, Table } from "./types.ts";
import { viewer } from "./viewer.ts";

const operators = ["=", "<>", "<", ">", "contains", "is null", "is not null"] as const;

export function data(state: State): Child {
  const title = heading(state.table ?? "Data");
  return h(
    "div",
    { class: "beside" },
    later("the tables", async () => tables(await ask<Table[]>("tables"), state)),
    h(
      "div",
      {},
      title,
      stagedChanges(),
      state.table ? [viewer(state.as), later("the rows", () => rows(state))] : choose(),
    ),
  );
}

const choose = () => quiet("Choose a table. You see it as somebody without an account, or as a user that you name.");

function tables(all: readonly Table[], { table: current, as }: State): HTMLElement {
  const links = (some: readonly Table[]) =>
    h(
      "ul",
      {},
      ...some.map(({ name, estimate, says, has_rls }) =>
        h(
          "li",
          {},
          h(
            "a",
            {
              href: fresh({ panel: "data", table: name, ...(as && { as }) }),
              title: says,
              "aria-current": name === current ? "page" : null,
            },
            name.replace(/^public\./, ""),
          ),
          h(
            "small",
            {},
            estimate === null ? "" : ` about ${number(estimate)}`,
            has_rls ? "" : " no row-level security",
          ),
        ),
      ),
    );
  const own = all.filter(({ is_platform }) => !is_platform);
  const isOpen = all.some(({ name, is_platform }) => is_platform && name === current);
  return h(
    "nav",
    { "aria-label": "Tables", class: "tables" },
    own.length > 0 ? links(own) : quiet("The application has no table yet: add one to schema.ts."),
    h(
      "details",
      { open: isOpen },
      h("summary", {}, "Tables of the platform"),
      links(all.filter(({ is_platform }) => is_platform)),
    ),
  );
}

async function rows(state: State): Promise<Child> {
  const name = state.table as string;
  const as = state.as ?? null;
  const filter = state.column
    ? { column: state.column, operator: state.operator ?? "=", value: state.value ?? "" }
    : null;
  const after = state.after ? keyOf(state.after) : null;
  const open = state.row ? keyOf(state.row) : null;
  const { href: address } = location;
  const input = { table: name, as, after, filter, ghosts: state.ghosts === "1" };
  const page = await ask<Rows>("rows", input);
  // Meanwhile the operator may have gone elsewhere.
  if (open && location.href === address) openRow(name, as, open, page);
  if (page.columns.length === 0) {
    return plain(
      `This viewer may not select from ${name}: there is no grant. `,
      link(fresh({ panel: "policies", table: name }), "See its policies."),
    );
  }
  const body = page.rows.map((row) => line(row, page.columns));
  const head = ["Row", ...page.columns.map((column) => [column.name, h("small", {}, ` ${column.type}`)])];
  return [
    h(
      "div",
      { class: "tools" },
      filterForm(page.columns, state),
      ghostSwitch(state),
      (await mayAct()) && newRow(name, as, page.columns),
      copies(name, as, page.columns),
    ),
    page.withheld.length > 0 && quiet(`Without a grant for: ${page.withheld.join(", ")}.`),
    body.length > 0 ? table(`Rows of ${name}`, head, body) : quiet(empty(state)),
    page.moreHidden && quiet("More rows are hidden in this range than are listed."),
    !page.isKeyed && quiet(keyless(page, state)),
    controls(
      after && link(href({ after: null, row: null }), "First page"),
      page.next && link(href({ after: JSON.stringify(page.next), row: null }), "Next page"),
    ),
  ];
}

const empty = ({ column, ghosts }: State) =>
  column
    ? "No row that this viewer sees fits the filter."
    : ghosts === "1"
      ? "The table is empty."
      : "This viewer sees no row. Show hidden rows to see whether there are any.";

/** What a page lacks whose rows have no key. */
const keyless = ({ rows, more }: Rows, { ghosts }: State) => [
  "This viewer may select no primary key of the table. ",
  more && `More rows follow the ${number(rows.length)} above: a filter finds them. `,
  ghosts === "1" && "Hidden rows are not known without it.",
];

/** Shown by its beginning: the whole one is in a column of its own, and two would push the others off the page. */
const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

function line({ key, cells, cut }: Row, columns: readonly Column[]): Child[] {
  const id = key ? nameOfRow(key) : "";
  const open = key
    ? h(
        "a",
        {
          href: href({ row: JSON.stringify(key) }),
          "aria-label": `${cells ? "Open" : "Why hidden:"} row ${id}`,
          title: id,
        },
        id.replaceAll(uuid, (one) => one.slice(0, 8)),
      )
    : "–";
  if (!cells) return [open, ...columns.map(() => h("span", { class: "ghost" }, "hidden"))];
  return [
    open,
    ...cells.map((cell, index) => (cell === null ? h("i", {}, "null") : cut.includes(index) ? `${cell} …` : cell)),
  ];
}

function filterForm(columns: readonly Column[], state: State): HTMLElement {
  const option = (value: string, chosen: string | undefined) =>
    h("option", { value, selected: value === chosen }, value);
  const column = h("select", { id: "column" }, ...columns.map(({ name }) => option(name, state.column)));
  const operator = h("select", { id: "operator" }, ...operators.map((one) => option(one, state.operator)));
  const value = h("input", { id: "value", type: "text", value: state.value ?? "", spellcheck: "false" });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    go(href({ column: column.value, operator: operator.value, value: value.value, after: null, row: null }));
  };
  const label = (id: string, text: string) => h("label", { for: id, class: "hidden" }, text);
  return h(
    "form",
    { onsubmit: submit, "aria-label": "Filter" },
    label("column", "Column"),
    column,
    label("operator", "Comparison"),
    operator,
    label("value", "Value"),
    value,
    h("button", {}, "Filter"),
    state.column && link(href({ column: null, operator: null, value: null, after: null }), "Clear"),
  );
}

function ghostSwitch(state: State): HTMLElement {
  const box = h("input", {
    id: "ghosts",
    type: "checkbox",
    checked: state.ghosts === "1",
    disabled: Boolean(state.column),
  });
  box.addEventListener("change", () => go(href({ ghosts: box.checked ? "1" : null, row: null })));
  return h("span", {}, box, h("label", { for: "ghosts" }, "Show hidden rows"));
}

function copies(name: string, as: string | null, columns: readonly Column[]): HTMLElement {
  const key = columns
    .filter(({ key_place }) => key_place !== null)
    .map(({ name }) => `"${name.replaceAll('"', '""')}"`);
  const sql = `select * from ${name}${key.length > 0 ? ` order by ${key.join(", ")}` : ""} limit 50`;
  return h(
    "span",
    {},
    copyButton("Copy as SQL", `${sql};`),
    copyButton("Copy as command", command("db", "psql", ...(as === null ? [] : ["--as", as]), "-c", sql)),
  );
}
