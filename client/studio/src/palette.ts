/** The command palette: every place of the page by its name, from the keyboard. */
import { ask } from "./api.ts";
import { h } from "./dom.ts";
import { panels } from "./panels.ts";
import { fresh, go } from "./state.ts";
import type { Table } from "./types.ts";

interface Command {
  name: string;
  address: string;
}

const fixed: readonly Command[] = [
  ...Object.entries(panels).map(([panel, { title }]) => ({ name: title, address: fresh({ panel }) })),
  { name: "Failed runs of workflows", address: fresh({ panel: "workflows", status: "failed" }) },
  { name: "Dead deliveries of webhooks", address: fresh({ panel: "webhooks", state: "dead" }) },
  { name: "Slow statements", address: fresh({ panel: "dba", what: "slow" }) },
  { name: "Locks", address: fresh({ panel: "dba", what: "locks" }) },
];

const ofTable = ({ name }: Table): Command[] => [
  { name: `Rows of ${name}`, address: fresh({ panel: "data", table: name }) },
  { name: `Policies of ${name}`, address: fresh({ panel: "policies", table: name }) },
  { name: `History of ${name}`, address: fresh({ panel: "audit", table: name }) },
];

/** Commands whose names have all the words; first those that begin with the text. */
const fitting = (commands: readonly Command[], text: string): Command[] => {
  const words = text.toLowerCase().split(/\s+/);
  const begins = ({ name }: Command) => name.toLowerCase().startsWith(text.toLowerCase());
  return commands
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((a, b) => Number(begins(b)) - Number(begins(a)))
    .slice(0, 16);
};

export async function openPalette(): Promise<void> {
  if (document.querySelector("dialog[open]")) return;
  let commands = fixed;
  let chosen = 0;
  const list = h("ul", { role: "listbox", id: "commands", "aria-label": "Commands" });
  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-label": "Go to",
    "aria-controls": "commands",
    "aria-expanded": "true",
    "aria-autocomplete": "list",
    autocomplete: "off",
    placeholder: "Go to a table, its policies, a panel",
  });
  const dialog = h("dialog", { class: "palette", "aria-label": "Command palette" }, input, list);
  const run = (command: Command | undefined) => {
    if (!command) return;
    dialog.close();
    go(command.address);
  };
  const show = () => {
    const shown = fitting(commands, input.value);
    chosen = Math.max(0, Math.min(chosen, shown.length - 1));
    list.replaceChildren(
      ...shown.map((command, index) =>
        h(
          "li",
          {
            role: "option",
            id: `command-${index}`,
            "aria-selected": String(index === chosen),
            onclick: () => run(command),
          },
          command.name,
        ),
      ),
    );
    if (shown.length > 0) input.setAttribute("aria-activedescendant", `command-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  };
  input.addEventListener("input", () => {
    chosen = 0;
    show();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") return run(fitting(commands, input.value)[chosen]);
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    chosen += event.key === "ArrowDown" ? 1 : -1;
    show();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  show();
  const tables = await ask<Table[]>("tables").catch(() => []);
  commands = [...fixed, ...tables.flatMap(ofTable)];
  show();
}
