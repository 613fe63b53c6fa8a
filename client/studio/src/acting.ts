/** Acts of operators: a button for each, which is there only where this Studio may act. */
import { ask } from "./api.ts";
import { h, problem } from "./dom.ts";
import { go, href } from "./state.ts";
import type { Act } from "./types.ts";

export interface Status {
  mayAct: boolean;
  acts: Act[];
}

export const status = (): Promise<Status> => ask<Status>("status");

let answer: Promise<boolean> | undefined;
/** Whether this Studio may act; it stays so. */
export function mayAct(): Promise<boolean> {
  answer ??= status().then(({ mayAct }) => mayAct);
  answer.catch(() => {
    answer = undefined;
  });
  return answer;
}

interface Options {
  /** What it acts on, read aloud after the label. */
  on: string;
  /** Whether a second press confirms it. (Default: false) */
  isFinal?: boolean;
}

/** @param input of the act; its part `act` is the function's name */
export function actButton(
  label: string,
  input: { act: string; [name: string]: unknown },
  { on, isFinal }: Options,
): HTMLElement {
  const button = h("button", { type: "button", class: "plain", "aria-label": `${label} ${on}` }, label);
  let isSure = !isFinal;
  button.addEventListener("click", async ({ detail }) => {
    if (detail > 1) return; // a double click is one press
    if (!isSure) {
      isSure = true;
      button.textContent = `${label}: sure?`;
      button.setAttribute("aria-label", `${label}: sure? ${on}`);
      return;
    }
    button.disabled = true;
    await perform(input).catch((error) => button.replaceWith(problem(error)));
  });
  return button;
}

/** Acts, then shows the place anew. @throws StudioError when it is refused */
export async function perform(input: { act: string; [name: string]: unknown }): Promise<void> {
  await ask("act", input);
  go(href({}));
}
