/** One row in a dialog: its cells, whole if wanted, and what the viewer may do with it. */
import { mayAct } from "./acting.ts";
import { ask } from "./api.ts";
import { append, type Child, code, h, later, link, plain, problem } from "./dom.ts";
import { editRow } from "./edits.ts";
import { fresh, go, href } from "./state.ts";
import type { Row, Rows, Verdict } from "./types.ts";

/** Its key as text. A part that would not be seen has quotes. */
export const nameOfRow = (key: readonly string[]): string =>
  key.map((part) => (part.trim() === "" ? JSON.stringify(part) : part)).join(", ");

/** The key of the address. */
export function keyOf(text: string): string[] {
  try {
    const key: unknown = JSON.parse(text);
    if (Array.isArray(key) && key.every((part) => typeof part === "string")) return key;
  } catch {
    // As one that is no key.
  }
  throw new Error(`The address names no row: ${text} is not the key of one.`);
}

/** @param key of a row of the page; another one shows the verdicts alone */
export function openRow(table: string, as: string | null, key: string[], page: Rows): void {
  const row = page.rows.find((one) => JSON.stringify(one.key) === JSON.stringify(key));
  const close = h("button", { type: "button", class: "plain" }, "Close");
  const dialog = h(
    "dialog",
    { class: "row", "aria-labelledby": "row" },
    h("header", {}, h("h2", { id: "row" }, `${table} ${nameOfRow(key)}`), close),
    row?.cells
      ? h(
          "dl",
          {},
          ...row.cells.flatMap((cell, index) => field(table, as, key, page, cell, row.cut.includes(index), index)),
        )
      : plain("This viewer does not see the row."),
    row?.cells && later("what can be done", async () => (await mayAct()) && edits(table, as, key, page, row)),
    plain(link(fresh({ panel: "audit", table, key: JSON.stringify(key), ...(as && { as }) }), "Its history")),
    h("h3", {}, "What this viewer may do with it"),
    later("the policies", async () => verdicts(await ask<Verdict[]>("explain", { table, as, key }))),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    // Another row may have been opened meanwhile.
    if (new URLSearchParams(location.search).get("row") === JSON.stringify(key)) go(href({ row: null }));
  });
  document.querySelector("dialog[open]")?.remove();
  document.body.append(dialog);
  dialog.showModal();
}

function edits(table: string, as: string | null, key: string[], { columns }: Rows, { cells, cut }: Row): Child {
  const known = columns.flatMap(({ name }, index) => (cut.includes(index) ? [] : [[name, cells?.[index] ?? null]]));
  return editRow({ table, as, key, columns, cells: Object.fromEntries(known) });
}

function field(
  table: string,
  as: string | null,
  key: string[],
  page: Rows,
  cell: string | null,
  isCut: boolean,
  index: number,
): Child[] {
  const { name, type, says } = page.columns[index] ?? { name: "", type: "", says: null };
  const value = h("dd", {}, cell === null ? h("i", {}, "null") : cell);
  if (isCut) {
    const more = h("button", { type: "button", class: "plain" }, "Show all of it");
    more.addEventListener("click", async () => {
      try {
        const whole = await ask<{ cell: string; isCut: boolean }>("cell", { table, as, key, column: name });
        value.textContent = whole.cell + (whole.isCut ? " … (cut after 1 MiB)" : "");
      } catch (error) {
        more.replaceWith(problem(error));
      }
    });
    append(value, [" … ", more]);
  }
  return [h("dt", { title: says }, name, h("small", {}, ` ${type}`)), value];
}

const verdicts = (all: readonly Verdict[]): Child =>
  h(
    "ul",
    { class: "verdicts" },
    ...all.map(({ command, admitted, reason, policies }) =>
      h(
        "li",
        {},
        h("b", { class: admitted ? "yes" : "no" }, `${command}: ${admitted ? "admitted" : "refused"}`),
        reason && ` because ${reason}`,
        policies.length > 0 &&
          h(
            "ul",
            {},
            ...policies.map(({ name, admits, condition }) =>
              h("li", {}, `${admits ? "yes" : "no"}: ${name} `, code(condition)),
            ),
          ),
      ),
    ),
  );
