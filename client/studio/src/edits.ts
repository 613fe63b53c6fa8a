/**
 * Changes of rows, staged here and made together: one transaction as the user, with one line in svc.operator_acts.
 * They are in no address, because a link must not carry values; leaving the page asks first.
 */
import { ask } from "./api.ts";
import { type Child, copyButton, h, plain, problem, quiet } from "./dom.ts";
import { go, href } from "./state.ts";
import type { Cells, Change, Column } from "./types.ts";

let staged: { as: string | null; changes: Change[] } = { as: null, changes: [] };

addEventListener("beforeunload", (event) => {
  if (staged.changes.length > 0) event.preventDefault();
});

/** Adds a change, and shows the page anew. A change as another user begins anew. */
function stage(as: string | null, change: Change): void {
  staged = { as, changes: as === staged.as ? [...staged.changes, change] : [change] };
  document.querySelector<HTMLDialogElement>("dialog[open]")?.close();
  go(href({ row: null }));
}

const nameOf = (as: string | null) => (as === null ? "somebody without an account" : `user ${as}`);

/** What is staged, as SQL, with the buttons that make or forget it. */
export function stagedChanges(): Child {
  const { as, changes } = staged;
  if (changes.length === 0) return null;
  const sql = changes.map(statement).join("\n");
  const place = h("div", { "aria-live": "polite" });
  const make = h("button", { type: "button" }, "Make them");
  const forget = h("button", { type: "button", class: "plain" }, "Forget them");
  make.addEventListener("click", async () => {
    make.disabled = true;
    try {
      await ask("act", { act: "act_change_rows", as, changes });
      staged = { as, changes: [] };
      go(href({}));
    } catch (error) {
      make.disabled = false;
      place.replaceChildren(problem(error), quiet("Nothing was changed."));
    }
  });
  forget.addEventListener("click", () => {
    staged = { as, changes: [] };
    go(href({}));
  });
  return h(
    "section",
    { "aria-label": "Staged changes", class: "staged" },
    h("h2", {}, `${changes.length} staged ${changes.length === 1 ? "change" : "changes"} as ${nameOf(as)}`),
    h("pre", { tabindex: 0 }, sql),
    plain(make, " ", forget, " ", copyButton("Copy as SQL", `begin;\n${sql}\ncommit;`)),
    quiet("All or none are made, in one transaction, as far as the policies let this user."),
    place,
  );
}

/** As PostgreSQL quotes them: a column may be named user, which is something else without quotes. */
const quoted = new Map<string, string>();
const name = (column: string) => quoted.get(column) ?? column;
const literal = (cell: string | null) => (cell === null ? "null" : `'${cell.replaceAll("'", "''")}'`);

function statement(change: Change): string {
  const { table } = change;
  if (change.command === "insert") {
    const columns = Object.keys(change.set).map(name);
    const values = Object.values(change.set).map(literal);
    return columns.length > 0
      ? `insert into ${table} (${columns.join(", ")}) values (${values.join(", ")});`
      : `insert into ${table} default values;`;
  }
  // As text, like the act: json has no =, and that of box compares areas. Columns of the key keep their index.
  const compared = (column: string) =>
    change.command === "update" && column in change.set ? `${name(column)}::text` : name(column);
  const where = Object.entries(change.was)
    .map(([column, cell]) => (cell === null ? `${name(column)} is null` : `${compared(column)} = ${literal(cell)}`))
    .join(" and ");
  if (change.command === "delete") return `delete from ${table} where ${where};`;
  const set = Object.entries(change.set).map(([column, cell]) => `${name(column)} = ${literal(cell)}`);
  return `update ${table} set ${set.join(", ")} where ${where};`;
}

function know(columns: readonly Column[]): void {
  for (const { name, quoted: text } of columns) quoted.set(name, text);
}

interface Known {
  table: string;
  as: string | null;
  key: string[];
  columns: readonly Column[];
  /** By column; one that was cut is missing. */
  cells: Cells;
}

/** The parts of a row by which it is found again. */
const keyCells = ({ columns, key }: Known): Cells =>
  Object.fromEntries(
    columns.flatMap(({ name, key_place }) => (key_place === null ? [] : [[name, key[key_place - 1] ?? null]])),
  );

/** Buttons under an opened row. */
export function editRow(row: Known): Child {
  const { table, as, key, columns, cells } = row;
  know(columns);
  const place = h("div", {});
  const edit = h("button", { type: "button", class: "plain" }, "Edit");
  const remove = h("button", { type: "button", class: "plain" }, "Stage its deletion");
  edit.addEventListener("click", () => {
    const known = columns.filter(({ name }) => name in cells);
    const submit = (values: Cells) => {
      const changed = Object.entries(values).filter(([column, cell]) => cell !== cells[column]);
      if (changed.length === 0) return place.replaceChildren(problem({ message: "No value is another one." }));
      const set = Object.fromEntries(changed);
      const before = Object.fromEntries(changed.map(([column]) => [column, cells[column] ?? null]));
      stage(as, { command: "update", table, key, set, was: { ...keyCells(row), ...before } });
    };
    const form = rowForm("Stage the change", known, (column) => cells[column] ?? null, submit);
    place.replaceChildren(form);
    form.querySelector("textarea")?.focus();
  });
  remove.addEventListener("click", () => stage(as, { command: "delete", table, key, was: keyCells(row) }));
  return [plain(edit, " ", remove), place];
}

/** A button that opens a form for a new row. */
export function newRow(table: string, as: string | null, columns: readonly Column[]): HTMLElement {
  know(columns);
  const button = h("button", { type: "button", class: "plain" }, "New row");
  button.addEventListener("click", () => {
    const close = h("button", { type: "button", class: "plain" }, "Close");
    const form = rowForm("Stage the row", columns, undefined, (set) => {
      stage(as, { command: "insert", table, set });
    });
    const dialog = h(
      "dialog",
      { class: "row", "aria-labelledby": "new-row" },
      h("header", {}, h("h2", { id: "new-row" }, `New row of ${table}`), close),
      form,
    );
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      dialog.remove();
      button.focus();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return button;
}

/** @param value of a column now; without it, a column begins with its default */
function rowForm(
  label: string,
  columns: readonly Column[],
  value: ((column: string) => string | null) | undefined,
  submit: (cells: Cells) => unknown,
): HTMLFormElement {
  const controls = columns.map((column, index) => {
    const now = value?.(column.name) ?? null;
    const kinds = ["value", "null", ...(value ? [] : ["default"])];
    const chosen = value ? (now === null ? "null" : "value") : "default";
    const kind = h(
      "select",
      { "aria-label": `${column.name}: kind of value` },
      ...kinds.map((one) => h("option", { value: one, selected: one === chosen }, one)),
    );
    const text = h("textarea", { id: `cell-${index}`, rows: 1, spellcheck: "false" }, now ?? "");
    text.addEventListener("input", () => {
      kind.value = "value";
    });
    // A text area turns each line break into LF: a text that nobody changed would be written in another form.
    const shown = text.value;
    const isDos = now?.includes("\r\n") && !/\r(?!\n)|(?<!\r)\n/.test(now);
    const read = () => {
      if (text.value === shown) return now ?? "";
      return isDos ? text.value.replaceAll("\n", "\r\n") : text.value;
    };
    return { column, kind, text, read };
  });
  return h(
    "form",
    {
      class: "cells",
      "aria-label": label,
      onsubmit: (event: SubmitEvent) => {
        event.preventDefault();
        const given = controls.filter(({ kind }) => kind.value !== "default");
        submit(
          Object.fromEntries(
            given.map(({ column, kind, read }) => [column.name, kind.value === "null" ? null : read()]),
          ),
        );
      },
    },
    ...controls.map(({ column, kind, text }) =>
      plain(h("label", { for: text.id }, column.name, h("small", {}, ` ${column.type}`)), kind, text),
    ),
    h("button", {}, label),
  );
}
