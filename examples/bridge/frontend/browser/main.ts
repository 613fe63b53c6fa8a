/**
 * The page in the browser. Signing in goes to the frontend's own server; data comes straight from the backend, on the
 * other origin, with the JWT that the bridge hands out.
 */
import { createAuthClient, createSvcClient, SvcError } from "@svc/client";
import { api } from "./svc/api.ts";

const baseUrl = document.body.dataset.backend ?? "";
const auth = createAuthClient(baseUrl, { authBridge: {} });
const client = createSvcClient({ api, baseUrl, auth });

const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T | null;
const problem = element("problem");

on("sign-in", async (fields, button) => {
  const [email, password] = [fields.get("email") as string, fields.get("password") as string];
  if (button.value === "up") await auth.signUp(email, password, email.split("@")[0] ?? email);
  else await auth.signIn(email, password);
  location.reload(); // the server renders the rest
});

on("add", async (fields, _button, form) => {
  const note = await client.mutate(api.notes.create, { text: (fields.get("text") as string).trim() });
  const item = document.createElement("li");
  item.textContent = note.text;
  element("notes")?.prepend(item);
  element("empty")?.setAttribute("hidden", "");
  form.reset();
  form.querySelector("input")?.focus();
});

element("sign-out")?.addEventListener("click", () =>
  attempt(async () => {
    await auth.signOut();
    location.reload();
  }),
);

/** Submits a form once at a time. */
function on(id: string, action: (fields: FormData, button: HTMLButtonElement, form: HTMLFormElement) => Promise<void>) {
  element<HTMLFormElement>(id)?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    await attempt(() => action(new FormData(form), event.submitter as HTMLButtonElement, form));
    form.ariaBusy = "false";
  });
}

/** Says what went wrong, in the service's words. */
async function attempt(action: () => Promise<void>): Promise<void> {
  if (problem) problem.textContent = "";
  try {
    await action();
  } catch (error) {
    const known = error instanceof SvcError ? [error.message, error.hint] : ["Something went wrong on this page."];
    if (problem) problem.textContent = known.filter(Boolean).join(" ");
  }
}
