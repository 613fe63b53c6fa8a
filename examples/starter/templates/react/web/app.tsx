/** The page: signs in, and shows the notes of the signed-in user. */
import { createAuthClient, createSvcClient } from "@svc/client";
import { SvcProvider, useAuth, useMutation, useQuery } from "@svc/react";
import { type SubmitEvent, useState } from "react";
import { api } from "./svc/api.ts";

// The service answers below the page's own address.
const auth = createAuthClient("");
const client = createSvcClient({ api, baseUrl: "", auth });

export function App() {
  return (
    <SvcProvider apiClient={client}>
      <main>
        <h1>Notes</h1>
        <Page />
      </main>
    </SvcProvider>
  );
}

function Page() {
  const { user, signOut } = useAuth();
  if (!user) return <SignIn />;
  return (
    <>
      <p>
        Signed in as {user.email}.{" "}
        <button type="button" onClick={() => void signOut()}>
          Sign out
        </button>
      </p>
      <Notes />
    </>
  );
}

function SignIn() {
  const { signIn, signUp } = useAuth();
  const [error, setError] = useState<Error | null>(null);

  async function enter(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget, event.nativeEvent.submitter);
    const [email, password] = [String(form.get("email")), String(form.get("password"))];
    try {
      if (form.get("action") === "up") await signUp(email, password, email.split("@")[0] ?? email);
      else await signIn(email, password);
    } catch (thrown) {
      setError(thrown as Error);
    }
  }

  return (
    <form onSubmit={enter}>
      <label>
        E-mail <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" minLength={8} required />
      </label>
      <button type="submit" name="action" value="in">
        Sign in
      </button>
      <button type="submit" name="action" value="up">
        Sign up
      </button>
      <Problem error={error} />
    </form>
  );
}

function Notes() {
  // Follows every change, whether this page, another user or SQL makes it.
  const notes = useQuery(api.notes.list, { limit: 100 });
  const create = useMutation(api.notes.create);
  const update = useMutation(api.notes.update, {
    // Shown at once, and taken back when it fails.
    optimistic: (cache, { id, done = false }) =>
      cache.updateAll(api.notes.list, (page) => ({
        ...page,
        data: page.data.map((note) => (note.id === id ? { ...note, done } : note)),
      })),
  });
  const clear = useMutation(api.notes.clearDone);

  function add(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate({ text: String(new FormData(form).get("text")) }, { onSuccess: () => form.reset() });
  }

  return (
    <>
      <form onSubmit={add}>
        <label>
          New note <input name="text" required maxLength={500} />
        </label>
        <button type="submit">Add</button>
      </form>
      {notes.isPending && <p>Loading …</p>}
      <ul>
        {notes.data?.data.map(({ id, text, done }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={done}
                onChange={({ target }) => update.mutate({ id, done: target.checked })}
              />
              {text}
            </label>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => clear.mutate()}>
        Clear what is done
      </button>
      <Problem error={notes.error ?? create.error ?? update.error ?? clear.error} />
    </>
  );
}

function Problem({ error }: { error: Error | null }) {
  return (
    <p id="problem" role="alert">
      {error?.message}
    </p>
  );
}
