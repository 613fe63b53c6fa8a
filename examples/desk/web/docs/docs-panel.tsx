/**
 * "Ask the docs": whether svc's own documentation says what somebody states, with the passages that do.
 * Next hop: `backend/docs.ts`.
 */
import type { User } from "@svc/client";
import { skip, useMutation, useQuery } from "@svc/react";
import { type FormEvent, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { api } from "../svc/api.ts";
import { Verdict } from "./verdict.tsx";

export function DocsPanel({ user }: { user: User | null }) {
  const [statement, setStatement] = useState("");
  const prepare = useMutation(api.docs.prepare);
  const check = useQuery(api.docs.check, statement === "" ? skip : { statement });

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get("statement")).trim();
    // The documentation is stored by the first who asks and may: that takes an account.
    if (user) await prepare.mutateAsync(undefined).catch(() => {});
    setStatement(typed);
  }

  return (
    <section className="card" aria-labelledby="docs-title">
      <div className="bar">
        <h2 id="docs-title" tabIndex={-1}>
          Ask the docs
        </h2>
        <span className="count">No language model</span>
      </div>
      <form className="ask" onSubmit={submit} aria-busy={prepare.isPending}>
        <input
          name="statement"
          type="search"
          aria-label="A statement about svc"
          placeholder="A statement, such as: A JWT ends with its session."
          required
          pattern=".*\S.*"
          maxLength={500}
          autoComplete="off"
        />
        <button type="submit">{prepare.isPending ? "One moment…" : "Look it up"}</button>
      </form>
      {prepare.error && <Problem error={prepare.error} />}
      {check.error && <Problem error={check.error} retry={check.refetch} />}
      {statement !== "" && check.isPending && <Skeleton rows={2} />}
      {check.data && <Verdict claim={check.data} />}
    </section>
  );
}
