/** "My tasks": generated CRUD of the table, and the two operations written by hand in `backend/tasks.ts`. */
import { mutate, query } from "./api.js";
import { announce, attempt, confirmFirst, fromTemplate, inlineEditor, onSubmit, parts } from "./dom.js";
import { listView } from "./list.js";

const section = document.getElementById("tasks");
const { title, form, find, open, finishAll, problem: listProblem } = parts(section);

const list = listView(section, {
  limit: 10,
  load: (page) => query("tasks.list", { ...page, ...wanted() }),
  row: taskRow,
  empty: () => (isFiltered() ? "No task is like that." : "Nothing to do yet. Add your first task above."),
});

const isFiltered = () => find.elements.search.value.trim() !== "" || find.elements.show.value !== "";

/** What the form above the list asks for, as arguments of the generated list. */
function wanted() {
  const { search, show, order } = Object.fromEntries(new FormData(find));
  return {
    ...(search.trim() && { search: search.trim() }),
    ...(show && { filters: { done: show === "done" } }),
    ...(order !== "createdAt" && { orderBy: order, orderDir: order === "title" ? "asc" : "desc" }),
  };
}

let typing;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => list.show(1), 200); // once per burst of keys
});
find.addEventListener("submit", (event) => event.preventDefault());

export function openTasks() {
  list.show(1);
  countOpen();
}

export function clearTasks() {
  list.clear();
  form.reset();
  find.reset();
  open.textContent = "";
}

let latestCount = 0;
async function countOpen() {
  const turn = ++latestCount;
  // The list reports a service that does not answer; a missing count needs no second message.
  const count = await query("tasks.openCount", {}).catch(() => null);
  if (turn !== latestCount) return;
  open.textContent = count ? `${count.open} open` : "";
  finishAll.hidden = !count?.open;
}

onSubmit(form, async ({ title, priority }) => {
  await mutate("tasks.create", { title, priority: Number(priority) });
  form.reset();
  form.elements.title.focus();
  announce(`Added “${title}”.`);
  list.show(1);
  countOpen();
});

confirmFirst(finishAll, "Finish them all?", () =>
  attempt(section, listProblem, async () => {
    const { finished } = await mutate("tasks.finishAll");
    title.focus();
    announce(finished === 1 ? "Finished 1 task." : `Finished ${finished} tasks.`);
    await Promise.all([list.show(), countOpen()]);
  }),
);

function taskRow(task) {
  const row = fromTemplate("task-row");
  const { view, done, text, priority, rename, remove, editor, cancel, problem } = parts(row);
  let known = task;
  let waiting = 0;
  let queue = Promise.resolve();

  text.id = `task-${task.id}`;
  for (const control of [priority, rename, remove]) control.setAttribute("aria-describedby", text.id);
  render();

  function render() {
    row.classList.toggle("done", known.done);
    done.checked = known.done;
    text.textContent = known.title;
    // The table takes any whole number; this page names three.
    const named = [...priority.options].some(({ value }) => Number(value) === known.priority);
    if (!named) priority.add(new Option(`Priority ${known.priority}`, known.priority));
    priority.value = known.priority;
    priority.classList.toggle("raised", known.priority > 0);
  }

  /** Saves changes one after the other, so that the last one made is the last one stored. */
  async function save(changes) {
    waiting++;
    const saved = queue.then(() => mutate("tasks.update", { id: task.id, ...changes }));
    queue = saved.catch(() => {});
    try {
      known = await saved;
    } finally {
      if (--waiting === 0) render();
    }
    countOpen();
  }

  done.addEventListener("change", () => {
    row.classList.toggle("done", done.checked);
    attempt(row, problem, () => save({ done: done.checked }));
  });
  priority.addEventListener("change", () => {
    attempt(row, problem, () => save({ priority: Number(priority.value) }));
  });
  inlineEditor({ opener: rename, view, form: editor, cancel, values: () => ({ title: known.title }), save });
  confirmFirst(remove, "Remove it?", () =>
    attempt(row, problem, async () => {
      await mutate("tasks.remove", { id: task.id });
      announce(`Removed “${known.title}”.`);
      countOpen();
      await list.dropped(row);
    }),
  );
  return row;
}
