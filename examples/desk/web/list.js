/** A paged list of a generated `<prefix>.list`: rows, range and total, and what to say while there are none. */
import { attempt, parts } from "./dom.js";

/**
 * @param section holds the parts title, rows, note, retry, problem, pager, range, newer, older
 * @param load    takes `{ page, limit }`, returns `{ data, total }`
 * @param row     makes an `<li>` of a row
 * @param empty   the sentence for an empty list
 */
export function listView(section, { limit, load, row, empty }) {
  const { title, rows, note, retry, problem, pager, range, newer, older } = parts(section);
  let page = 1;
  let latest = 0;

  async function show(wanted = page) {
    const turn = ++latest;
    note.textContent = rows.childElementCount === 0 ? "Loading…" : "";
    retry.hidden = true;
    let answer;
    const loaded = await attempt(rows, problem, async () => {
      answer = await load({ page: wanted, limit });
    });
    if (turn !== latest) return; // a later request has overtaken this one
    if (!loaded) {
      note.textContent = "";
      retry.hidden = false;
      return;
    }
    const { data, total } = answer;
    const last = Math.max(1, Math.ceil(total / limit));
    if (wanted > last) return show(last); // the page emptied meanwhile
    page = wanted;
    rows.replaceChildren(...data.map(row));
    note.textContent = total === 0 ? empty() : "";
    pager.hidden = last === 1;
    const first = (page - 1) * limit;
    range.textContent = `${first + 1}–${first + data.length} of ${total}`;
    newer.disabled = page === 1;
    older.disabled = page === last;
  }

  const turnBy = async (button, step) => {
    await show(page + step);
    if (button.disabled) title.focus(); // focus must not vanish with the button
  };
  newer.addEventListener("click", () => turnBy(newer, -1));
  older.addEventListener("click", () => turnBy(older, 1));
  retry.addEventListener("click", async () => {
    title.focus();
    await show();
  });

  return {
    show,
    /** Reloads after a row has gone; focus goes to the row that took its place, or to the heading. */
    async dropped(item) {
      const index = [...rows.children].indexOf(item);
      await show();
      const next = rows.children[Math.min(index, rows.childElementCount - 1)];
      (next?.querySelector("input, button:not([hidden])") ?? title).focus();
    },
    clear() {
      latest++;
      page = 1;
      rows.replaceChildren();
      pager.hidden = true;
    },
  };
}
