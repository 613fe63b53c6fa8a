/** What the sections share: results spoken, errors shown where they arose, forms, inline editors, second thoughts. */
import { ApiError } from "./http.js";

/** The elements below `root` that carry `data-part`, by its value. */
export const parts = (root) =>
  Object.fromEntries([...root.querySelectorAll("[data-part]")].map((element) => [element.dataset.part, element]));

/** A copy of a `<template>`'s one element. */
export const fromTemplate = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true);

let hush;
/** Says a result, on the screen for a moment and to screen readers. */
export function announce(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  clearTimeout(hush);
  hush = setTimeout(() => {
    status.textContent = "";
  }, 5000);
}

/** Runs an action; marks `scope` as busy meanwhile and says in `problem` what went wrong. Returns success. */
export async function attempt(scope, problem, action) {
  scope.ariaBusy = "true";
  showProblem(scope, problem, null);
  try {
    await action();
    return true;
  } catch (error) {
    showProblem(scope, problem, error);
    return false;
  } finally {
    scope.ariaBusy = "false";
  }
}

function showProblem(scope, problem, error) {
  for (const field of scope.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  problem.hidden = !error;
  if (!error) return problem.replaceChildren();

  const known = error instanceof ApiError ? error : new ApiError({ error: "Something went wrong on this page." });
  if (known !== error) console.error(error);
  // An issue is a sentence of its own, or what follows the field's name: "must be a number".
  const issues = known.issues.map(({ path, message }) => (/^[A-Z]/.test(message) ? message : `${path[0]} ${message}`));
  const lines = [known.message, ...issues, known.hint].filter(Boolean);
  problem.replaceChildren(...lines.map((line) => Object.assign(document.createElement("span"), { textContent: line })));

  const wrong = known.issues.map(({ path }) => scope.elements?.namedItem(path[0])).filter(Boolean);
  for (const field of wrong) field.setAttribute("aria-invalid", "true");
  wrong[0]?.focus();
}

/** Submits a form once at a time; `action` gets its fields as an object of trimmed strings (passwords as typed). */
export function onSubmit(form, action) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    const button = form.querySelector("[type=submit]");
    const label = button.textContent;
    button.textContent = button.dataset.busy;
    const values = [...new FormData(form)].map(([name, value]) => [name, name === "password" ? value : value.trim()]);
    await attempt(form, form.querySelector(".problem"), () => action(Object.fromEntries(values)));
    button.textContent = label;
  });
}

/** Swaps `view` for `form` and back; focus goes along. Escape cancels. */
export function inlineEditor({ opener, view, form, cancel, values, save }) {
  const show = (editing) => {
    view.hidden = editing;
    form.hidden = !editing;
  };
  const close = () => {
    show(false);
    opener.focus();
  };
  opener.addEventListener("click", () => {
    for (const [name, value] of Object.entries(values())) form.elements[name].value = value;
    show(true);
    form.elements[0].select();
  });
  cancel.addEventListener("click", close);
  form.addEventListener("keydown", ({ key, isComposing }) => key === "Escape" && !isComposing && close());
  onSubmit(form, async (fields) => {
    await save(fields);
    close();
  });
}

/** Asks on the button itself before it does what cannot be undone. Leaving the button, or Escape, is no. */
export function confirmFirst(button, question, action) {
  const label = button.textContent;
  let armed = false;
  const arm = (value) => {
    armed = value;
    button.textContent = armed ? question : label;
    button.classList.toggle("armed", armed);
  };
  button.setAttribute("aria-live", "polite");
  button.addEventListener("blur", () => arm(false));
  button.addEventListener("keydown", ({ key }) => key === "Escape" && arm(false));
  button.addEventListener("click", ({ detail }) => {
    if (detail > 1) return; // the second half of a double click is no answer
    const confirmed = armed;
    arm(!armed);
    button.focus(); // Safari leaves a clicked button unfocused, and then nothing would disarm it
    if (confirmed) action();
  });
}
