/** Signing in, or making an account. What the service refuses is said in the form, beside what was typed. */
import { useAuth } from "@svc/react";
import { type FormEvent, useId, useState } from "react";
import { Problem } from "./parts/problem.tsx";

export function Entrance() {
  const { signIn, signUp } = useAuth();
  const [isNew, setNew] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const title = useId();
  const hint = useId();

  async function enter(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (busy) return;
    const form = new FormData(event.currentTarget);
    const [email, password, name] = ["email", "password", "name"].map((field) => String(form.get(field) ?? ""));
    setBusy(true);
    setError(undefined);
    try {
      if (isNew) await signUp(email ?? "", password ?? "", name?.trim() ?? "");
      else await signIn(email ?? "", password ?? "");
    } catch (cause) {
      setError(cause as Error);
    } finally {
      setBusy(false);
    }
  }

  const switchMode = () => {
    setNew(!isNew);
    setError(undefined);
  };

  return (
    <section className="card entrance" aria-labelledby={title}>
      <h2 id={title} tabIndex={-1}>
        {isNew ? "Create an account" : "Sign in"}
      </h2>
      <p className="soft">Your tasks are private: nobody else can see them.</p>
      <form className="form" onSubmit={enter} aria-busy={busy}>
        {isNew && (
          <label>
            Name
            <input name="name" autoComplete="name" required pattern=".*\S.*" maxLength={100} />
          </label>
        )}
        <label>
          Email
          <input name="email" type="email" autoComplete="email" required />
        </label>
        <label>
          Password
          <input
            name="password"
            type="password"
            autoComplete={isNew ? "new-password" : "current-password"}
            required
            minLength={isNew ? 8 : undefined}
            maxLength={128}
            aria-describedby={isNew ? hint : undefined}
          />
        </label>
        {isNew && (
          <small id={hint} className="soft">
            8 to 128 characters.
          </small>
        )}
        {error && <Problem error={error} />}
        <button type="submit">{busy ? "One moment…" : isNew ? "Create account" : "Sign in"}</button>
      </form>
      <p className="soft">
        {isNew ? "You have one already?" : "New here?"}{" "}
        <button type="button" className="link" onClick={switchMode}>
          {isNew ? "Sign in" : "Create an account"}
        </button>
      </p>
    </section>
  );
}
