/** Makes elements. Text stays text: nothing here makes markup of it, and the page's policy forbids that. */

export type Child = Node | string | number | null | undefined | false | readonly Child[];
type Listener = (event: never) => unknown;
type Attributes = Record<string, string | number | boolean | null | undefined | Listener>;

/** @param attributes `onclick` and the like are listeners; null and false are left out */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key.slice(2), value as EventListener);
    else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

export function append(to: Element, children: readonly Child[]): void {
  for (const child of children.flat(9) as Child[]) {
    if (child instanceof Node) to.append(child);
    else if (typeof child === "string" || typeof child === "number") to.append(String(child));
  }
}

/** The title of a panel. It can get the focus when the panel changes. */
export const heading = (text: string): HTMLElement => h("h1", { tabindex: -1 }, text);

/** A paragraph. `quiet` is one in a lighter colour. */
export const plain = (...children: Child[]): HTMLElement => h("p", {}, ...children);
export const quiet = (...children: Child[]): HTMLElement => h("p", { class: "quiet" }, ...children);

/** Links to other pages of a list, and buttons. */
export const controls = (...children: Child[]): HTMLElement => h("p", { class: "pages" }, ...children);

/** Links of which one is chosen: see `choice`. */
export const choices = (...children: Child[]): HTMLElement => h("p", { class: "counts" }, ...children);

export const choice = (to: string, isChosen: boolean, ...children: Child[]): HTMLElement =>
  h("a", { href: to, class: "count", "aria-current": isChosen ? "true" : null }, ...children);

export const code = (text: string): HTMLElement => h("code", {}, text);

export const link = (to: string, ...children: Child[]): HTMLElement => h("a", { href: to }, ...children);

/** A table with a caption that is read aloud; `head` names its columns. */
export const table = (caption: string, head: readonly Child[], rows: readonly (readonly Child[])[]): HTMLElement =>
  h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("caption", { class: "quiet-caption" }, caption),
      h("thead", {}, h("tr", {}, ...head.map((cell) => h("th", { scope: "col" }, cell)))),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
    ),
  );

/** A name and its value, for a list of facts. */
export const field = (name: string, value: Child): HTMLElement[] => [h("dt", {}, name), h("dd", {}, value)];

/** A button that puts a text into the clipboard, and says so. */
export function copyButton(label: string, text: string): HTMLButtonElement {
  const button = h("button", { type: "button", class: "plain" }, label);
  button.addEventListener("click", async () => {
    button.textContent = await navigator.clipboard.writeText(text).then(
      () => "Copied",
      () => "The browser does not allow it",
    );
    setTimeout(() => {
      button.textContent = label;
    }, 1_500);
  });
  return button;
}

/** A part of a length of time. Its numbers are told beside it. @param from from 0 to 1 */
export function bar(from: number, until: number): HTMLElement {
  const inner = h("span", {});
  // By the object model: the page's policy forbids the attribute.
  inner.style.marginLeft = `${share(from)}%`;
  inner.style.width = `${Math.max(1, share(until) - share(from))}%`;
  return h("span", { class: "bar", "aria-hidden": "true" }, inner);
}

const share = (part: number) => (Number.isFinite(part) ? Math.min(99, Math.max(0, part * 100)) : 0);

/** Replaces a waiting text when the answer has come; an error is shown in its place. */
export function later(what: string, load: () => Promise<Child>): HTMLElement {
  const place = h("div", { class: "later", "aria-busy": "true" }, quiet(`Loading ${what} …`));
  load().then(
    (child) => fill(place, child),
    (error) => fill(place, problem(error)),
  );
  return place;
}

function fill(place: HTMLElement, child: Child): void {
  place.replaceChildren();
  place.removeAttribute("aria-busy");
  append(place, [child]);
}

export function problem(error: unknown): HTMLElement {
  const { message, hint } = error as { message: string; hint?: string };
  return h("div", { role: "alert", class: "problem" }, h("p", {}, message), hint && quiet(hint));
}
