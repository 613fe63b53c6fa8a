/** The form that files an expense. What was typed stays there when the service refuses it. */
import { useMutation } from "@svc/react";
import type { FormEvent } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";

export function NewExpense() {
  const announce = useAnnounce();
  const file = useMutation(api.expenses.file, {
    onSuccess: (_filed, { purpose }) => announce(`Filed “${purpose}”.`),
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (file.isPending) return;
    const form = event.currentTarget;
    const fields = new FormData(form);
    const expense = {
      purpose: String(fields.get("purpose")).trim(),
      cents: Math.round(Number(fields.get("amount")) * 100),
    };
    const begin = () => {
      form.reset(); // only after it is stored: a refused expense stays in the form, to be corrected
      form.querySelector("input")?.focus();
    };
    file.mutate(expense, { onSuccess: begin });
  }

  return (
    <form className="new-expense" onSubmit={submit} aria-busy={file.isPending}>
      <input
        name="purpose"
        aria-label="What it was for"
        placeholder="What was it for?"
        required
        pattern=".*\S.*"
        maxLength={200}
        autoComplete="off"
      />
      <input
        name="amount"
        type="number"
        inputMode="decimal"
        aria-label="Amount"
        placeholder="Amount"
        required
        min={0.01}
        max={100_000}
        step={0.01}
      />
      <button type="submit">File</button>
      {file.error && <Problem error={file.error} />}
    </form>
  );
}
