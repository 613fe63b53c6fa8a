/** A colleague's expense, with the two answers that it waits for. */
import type { OutputOf } from "@svc/client";
import { useMutation } from "@svc/react";
import { useAnnounce } from "../parts/announcer.tsx";
import { api } from "../svc/api.ts";
import { money } from "./money.ts";

export type Expense = OutputOf<typeof api.expenses.list>["data"][number];

export function DecisionRow({ expense }: { expense: Expense }) {
  const announce = useAnnounce();
  const decide = useMutation(api.expenses.decide, {
    onSuccess(_nothing, { approved }) {
      announce(`${approved ? "Approved" : "Refused"} “${expense.purpose}”.`);
      document.getElementById("expenses-title")?.focus();
    },
    onError: announce,
  });
  const name = `decide-${expense.id}`;
  const taken = decide.isPending || decide.isSuccess;
  const answer = (approved: boolean) => {
    if (!taken) decide.mutate({ id: expense.id, approved });
  };
  return (
    <li className="expense" aria-busy={taken}>
      <span id={name}>{expense.purpose}</span>
      <span className="amount">{money(expense.cents)}</span>
      <div className="actions">
        <button type="button" aria-describedby={name} aria-disabled={taken} onClick={() => answer(true)}>
          Approve
        </button>
        <button
          type="button"
          className="quiet"
          aria-describedby={name}
          aria-disabled={taken}
          onClick={() => answer(false)}
        >
          Refuse
        </button>
      </div>
    </li>
  );
}
