/** Search lab: what a viewer finds by keywords, and what each term adds to the score. */
import { ask } from "./api.ts";
import { type Child, code, copyButton, h, heading, later, plain, quiet, table } from "./dom.ts";
import { fresh, go, href, type State } from "./state.ts";
import { command, number } from "./texts.ts";
import { viewer } from "./viewer.ts";

interface Searchable {
  relation: string;
  fields: string[];
  always: string | null;
}

interface Term {
  row_id: string;
  term: string;
  n: string;
  holding: string;
  documents: string;
  idf: number;
  tf: string;
  length: string;
  average: number;
  norm: number;
  contribution: number;
}

interface Result {
  visibility: string;
  fields: string[];
  ms: number;
  /** With the beginning of a text, if this viewer may read one. */
  rows: { id: string; score: number; text: string | null }[];
  terms: Term[];
}

export const search = (state: State): Child => [
  heading("Search lab"),
  viewer(state.as),
  later("the searchable tables", async () => lab(await ask<Searchable[]>("searchable"), state)),
];

function lab(tables: readonly Searchable[], state: State): Child {
  if (tables.length === 0) return quiet("No table is searchable: ", code("searchable(…)"), " declares one.");
  const chosen = tables.find(({ relation }) => relation === state.table) ?? tables[0];
  const option = (value: string, label: string, selected: boolean) => h("option", { value, selected }, label);
  const name = h(
    "select",
    { id: "searched" },
    ...tables.map((one) => option(one.relation, one.relation, one === chosen)),
  );
  const query = h("input", { id: "query", type: "search", value: state.query ?? "", required: true });
  const visibility = h(
    "select",
    { id: "visibility" },
    option("", "as declared", !state.visibility),
    ...["public", "shared", "private"].map((one) => option(one, one, one === state.visibility)),
  );
  const prefix = h("input", { id: "prefix", type: "checkbox", checked: state.prefix === "1" });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const parts = { table: name.value, query: query.value, visibility: visibility.value || null };
    go(href({ ...parts, prefix: prefix.checked ? "1" : null }));
  };
  return [
    h(
      "form",
      { onsubmit: submit },
      h("label", { for: "searched" }, "In"),
      name,
      h("label", { for: "query" }, "for"),
      query,
      h("label", { for: "visibility" }, "among rows that are"),
      visibility,
      h("span", {}, prefix, h("label", { for: "prefix" }, "The last word is a beginning")),
      h("button", {}, "Search"),
    ),
    state.query && chosen
      ? later("what is found", () => found(chosen.relation, state))
      : quiet("Rows come as ctx.search gives them to this viewer, with the terms of each score."),
  ];
}

async function found(name: string, { as, query = "", visibility, prefix }: State): Promise<Child> {
  const input = { table: name, as: as ?? null, query, visibility: visibility ?? null, prefix: prefix === "1" };
  const { rows, terms, fields, ms, visibility: searched } = await ask<Result>("search", input);
  const options = ["--visibility", searched, ...(as ? ["--user", as] : []), "--explain"];
  return [
    quiet(`${number(rows.length)} rows among those that are ${searched}, in ${fields.join(", ")}, ${ms} ms`),
    rows.length === 0 && quiet("This viewer finds nothing. Policies and the visibility of rows decide too."),
    ...rows.map(({ id, score, text }) => {
      const row = fresh({ panel: "data", table: name, row: JSON.stringify([id]), ...(as && { as }) });
      return h(
        "section",
        {},
        h("h2", {}, h("a", { href: row, title: id }, text || id), ` ${score.toFixed(4)}`),
        table(
          `Terms of ${id}`,
          ["Term", "In the query", "In rows", "Rarity (idf)", "In this row", "Length", "Average", "Norm", "Adds"],
          terms
            .filter((term) => term.row_id === id)
            .map((term) => [
              term.term,
              term.n,
              `${number(term.holding)} of ${number(term.documents)}`,
              term.idf.toFixed(4),
              term.tf,
              term.length,
              term.average.toFixed(1),
              term.norm.toFixed(4),
              term.contribution.toFixed(4),
            ]),
        ),
      );
    }),
    plain(copyButton("Copy as command", command("search", name, query, ...options))),
  ];
}
