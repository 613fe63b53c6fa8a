/** The choice of the user to view as. */
import { ask } from "./api.ts";
import { h, problem } from "./dom.ts";
import { go, href } from "./state.ts";
import type { User } from "./types.ts";

/** @param as a user's id; undefined is somebody without an account */
export function viewer(as: string | undefined): HTMLElement {
  const options = h("datalist", { id: "users" });
  const message = h("span", { role: "status", class: "quiet" });
  const input = h("input", {
    id: "viewer",
    type: "text",
    list: "users",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "e-mail address or id",
    value: as ?? "",
  });
  input.addEventListener("input", async () => {
    const users = await ask<User[]>("users", { search: input.value }).catch(() => []);
    options.replaceChildren(...users.map(({ email, name }) => h("option", { value: email }, name)));
  });
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const search = input.value.trim();
    if (search === "") return go(href({ as: null, after: null, row: null }));
    try {
      const users = await ask<User[]>("users", { search });
      const user = users.find(({ id, email }) => id === search || email === search.toLowerCase());
      if (user) return go(href({ as: user.id, after: null, row: null }));
      message.textContent = `There is no user ${search}.`;
    } catch (error) {
      message.replaceChildren(problem(error));
    }
  };
  if (as) {
    ask<User[]>("users", { search: as }).then(
      (users) => {
        // The rows are those of this id, so the name must be, too: an address may begin with the same letters.
        const user = users.find(({ id }) => id === as);
        message.replaceChildren(...(user ? [h("bdi", {}, user.name), `, ${user.email}`] : ["No user has this id."]));
      },
      () => {},
    );
  } else message.textContent = "Without an account";
  return h(
    "form",
    { class: "viewer", onsubmit: submit },
    h("label", { for: "viewer" }, "View as"),
    input,
    options,
    h("button", {}, "View"),
    message,
  );
}
