/** Studio's page: no framework, no build step, all state in the address. Next hop: `panels.ts`; `dom.ts` makes the elements. */
import { enter } from "./api.ts";
import { append, h, heading, problem } from "./dom.ts";
import { openPalette } from "./palette.ts";
import { panels } from "./panels.ts";
import { followLinks, fresh, onChange, state } from "./state.ts";

const main = h("main", { id: "main" });
const links = Object.entries(panels).map(([name, { title }]) => h("a", { href: fresh({ panel: name }) }, title));
let shown = "";

function show(): void {
  const now = state();
  const name = now.panel && Object.hasOwn(panels, now.panel) ? now.panel : "home";
  const panel = panels[name];
  if (!panel) return;
  const title = [now.table, panel.title].filter(Boolean).join(" · ");
  document.title = `${title} · Studio`;
  for (const [index, link] of links.entries()) {
    if (Object.keys(panels)[index] === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const focused = document.activeElement?.id;
  // The way back leads out of an open row too.
  if (!now.row) document.querySelector("dialog.row")?.remove();
  main.replaceChildren();
  append(main, [panel.show(now)]);
  const place = `${name} ${now.table ?? now.run ?? now.user ?? now.organization ?? now.list ?? now.trace ?? ""}`;
  // A new place is announced; within one the focus stays where it was, if that is still there.
  if (place !== shown && shown !== "") main.querySelector("h1")?.focus();
  else if (focused) document.getElementById(focused)?.focus();
  shown = place;
}

async function start(): Promise<void> {
  document.body.replaceChildren(
    h("a", { href: "#main", class: "skip" }, "Skip to the content"),
    h(
      "header",
      { class: "top" },
      h("strong", {}, "Studio"),
      h("nav", { "aria-label": "Panels" }, ...links),
      h("button", { type: "button", onclick: () => void openPalette() }, "Go to … ", h("kbd", {}, "Ctrl K")),
    ),
    main,
  );
  document.addEventListener("keydown", (event) => {
    if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void openPalette();
  });
  followLinks();
  onChange(show);
  // Another address of this Studio, such as that of one that was started again, does not load the page anew.
  addEventListener("hashchange", () => location.hash && void begin());
  await begin();
}

async function begin(): Promise<void> {
  try {
    await enter();
    show();
  } catch (error) {
    main.replaceChildren(heading("Studio"), problem(error));
  }
}

void start();
