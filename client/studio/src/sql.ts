/** SQL: one statement as a user, read-only. */
import { ask } from "./api.ts";
import { type Child, code, controls, copyButton, h, heading, later, plain, quiet, table } from "./dom.ts";
import { go, href, type State } from "./state.ts";
import { command } from "./texts.ts";
import { viewer } from "./viewer.ts";

interface Result {
  columns: string[];
  rows: (string | null)[][];
  isCut: boolean;
  ms: number;
}

export function sql(state: State): Child {
  const text = h("textarea", { id: "sql", rows: 6, spellcheck: "false", placeholder: "select …" }, state.sql ?? "");
  const run = (plan: boolean) => go(href({ sql: text.value, plan: plan ? "1" : null }));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    run(false);
  };
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run(event.shiftKey);
  });
  return [
    heading("SQL"),
    viewer(state.as),
    h(
      "form",
      { onsubmit: submit, "aria-label": "SQL" },
      h("label", { for: "sql" }, "Statement"),
      text,
      h("button", {}, "Run ", h("kbd", {}, "Ctrl Enter")),
      h("button", { type: "button", onclick: () => run(true) }, "Show the plan"),
    ),
    state.sql ? later("the result", () => result(state)) : help(),
  ];
}

const help = () =>
  quiet(
    "The statement runs in the transaction that a call of this user gets: with its role, its policies and ",
    code("svc.current_user_id()"),
    ". It cannot write.",
  );

async function result({ sql: text = "", as, plan }: State): Promise<Child> {
  const input = { as: as ?? null, text };
  const copies = [
    copyButton("Copy as command", command("db", "psql", ...(as === undefined ? [] : ["--as", as]), "-c", text)),
  ];
  if (plan === "1") {
    const { plan } = await ask<{ plan: string }>("sql", { ...input, plan: true });
    return [h("pre", { tabindex: 0 }, plan), plain(copies)];
  }
  const { columns, rows, isCut, ms } = await ask<Result>("sql", input);
  const cells = rows.map((row) => row.map((cell) => cell ?? h("i", {}, "null")));
  const csv = [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n");
  return [
    quiet(`${rows.length}${isCut ? " rows, and more" : rows.length === 1 ? " row" : " rows"}, ${ms} ms`),
    rows.length > 0 ? table("Result", columns, cells) : quiet("This viewer gets no row."),
    controls(copies, copyButton("Copy as CSV", csv)),
  ];
}

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. A number does not. */
function csvCell(cell: string | null): string {
  if (cell === null) return "";
  // As sql/crud/csv_sql.sql.
  const text = cell.replace(/^(?=[=+@＝＋－＠\t\r\n-])(?![+-]?\d+(\.\d+)?(e[+-]?\d+)?$)/i, "'");
  return `"${text.replaceAll('"', '""')}"`;
}
