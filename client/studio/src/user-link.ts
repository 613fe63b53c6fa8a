/** A link to a user in People, with the e-mail address as soon as it is known. A page asks for all of its addresses at once. */
import { ask } from "./api.ts";
import { h } from "./dom.ts";
import { fresh } from "./state.ts";

/** Of the next question, by id. */
let waiting = new Map<string, HTMLElement[]>();

export function userLink(id: string): HTMLElement {
  const link = h("a", { href: fresh({ panel: "people", user: id }), title: id }, id);
  if (waiting.size === 0) queueMicrotask(show);
  waiting.set(id, [...(waiting.get(id) ?? []), link]);
  return link;
}

async function show(): Promise<void> {
  const links = waiting;
  waiting = new Map();
  const found = await ask<{ id: string; email: string }[]>("addresses", { ids: [...links.keys()] }).catch(() => []);
  for (const { id, email } of found) for (const link of links.get(id) ?? []) link.textContent = email;
}
