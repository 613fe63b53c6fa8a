/** The page: signs in, and shows the notes of the signed-in user. */
import { createAuthClient, createSvcClient, SvcError } from "@svc/client";
import { api } from "./svc/api.ts";

// The service answers below the page's own address: behind Vite's server while developing, alone when it is built.
const auth = createAuthClient("");
const client = createSvcClient({ api, baseUrl: "", auth });

const element = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const problem = element("problem");

/** Runs something, and shows what went wrong. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  problem.textContent = "";
  try {
    await work();
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    problem.textContent = [error.message, ...error.issues.map((issue) => issue.message)].join(" ");
  }
}

/** Stops watching the notes of the previous user. */
let stop = () => {};

function show(): void {
  const { user } = auth.getState();
  element("enter").hidden = user !== null;
  element("desk").hidden = user === null;
  element("who").textContent = user ? `Signed in as ${user.email}.` : "";
  stop();
  if (!user) return;
  // Called now, and after every change by any client.
  stop = client.watch(api.notes.list, { limit: 100 }, ({ data }) => {
    element("notes").replaceChildren(
      ...data.map(({ id, text, done }) => {
        const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: done });
        box.addEventListener("change", () => attempt(() => client.mutate(api.notes.update, { id, done: box.checked })));
        const label = document.createElement("label");
        label.append(box, text);
        const item = document.createElement("li");
        item.append(label);
        return item;
      }),
    );
  });
}

element<HTMLFormElement>("enter").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement, event.submitter);
  const [email, password] = [String(form.get("email")), String(form.get("password"))];
  const isNew = form.get("action") === "up";
  attempt(() => (isNew ? auth.signUp(email, password, email.split("@")[0] ?? email) : auth.signIn(email, password)));
});
element<HTMLFormElement>("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  attempt(async () => {
    await client.mutate(api.notes.create, { text: String(new FormData(form).get("text")) });
    form.reset();
  });
});
element("clear").addEventListener("click", () => attempt(() => client.mutate(api.notes.clearDone)));
element("out").addEventListener("click", () => attempt(() => auth.signOut()));

let shownFor: string | undefined;
auth.subscribe(() => {
  const { user } = auth.getState();
  if (user?.id === shownFor) return;
  shownFor = user?.id;
  show();
});
show();
