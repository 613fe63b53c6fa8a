/** The board: everybody reads it, account or not; the policies of `posts` let only the author change a post. */
import { mutate, query } from "./api.js";
import { announce, attempt, confirmFirst, fromTemplate, inlineEditor, onSubmit, parts } from "./dom.js";
import { listView } from "./list.js";
import { currentUser } from "./session.js";

const section = document.getElementById("board");
const { writing, form } = parts(section);
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

const list = listView(section, {
  limit: 5,
  load: (page) => query("posts.list", page),
  row: postRow,
  empty: () => (currentUser() ? "No posts yet. Write the first one." : "No posts yet. Sign in to write the first one."),
});

export function openBoard() {
  form.reset();
  writing.open = false;
  writing.hidden = !currentUser();
  list.show();
}

onSubmit(form, async (post) => {
  await mutate("posts.create", post);
  form.reset();
  writing.open = false;
  writing.firstElementChild.focus();
  announce(`Published “${post.title}”.`);
  list.show(1);
});

function postRow(post) {
  const row = fromTemplate("post-row");
  const { view, heading, body, time, actions, edit, remove, editor, cancel, problem } = parts(row);
  let known = post;

  heading.id = `post-${post.id}`;
  for (const control of [edit, remove]) control.setAttribute("aria-describedby", heading.id);
  render();

  function render() {
    heading.textContent = known.title;
    body.textContent = known.body;
    body.hidden = known.body === "";
    const mine = known.userId === currentUser()?.id;
    time.dateTime = known.createdAt;
    time.textContent = date.format(new Date(known.createdAt));
    actions.hidden = !mine;
  }

  inlineEditor({
    opener: edit,
    view,
    form: editor,
    cancel,
    values: () => ({ title: known.title, body: known.body }),
    save: async (changes) => {
      known = await mutate("posts.update", { id: post.id, ...changes });
      render();
      announce("Saved.");
    },
  });
  confirmFirst(remove, "Remove it?", () =>
    attempt(row, problem, async () => {
      await mutate("posts.remove", { id: post.id });
      announce(`Removed “${known.title}”.`);
      await list.dropped(row);
    }),
  );
  return row;
}
