/** One of one's own expenses: what has become of it, and on demand how. */
import { useState } from "react";
import type { Expense } from "./decision-row.tsx";
import { money } from "./money.ts";
import { Timeline } from "./timeline.tsx";

const words = { waiting: "Waiting", approved: "Approved", refused: "Refused", expired: "Expired" };

export function ExpenseRow({ expense, isOpen }: { expense: Expense; isOpen: boolean }) {
  const [open, setOpen] = useState(isOpen);
  return (
    <li>
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="expense">
          <span>{expense.purpose}</span>
          <span className="amount">{money(expense.cents)}</span>
          <span className="state" data-state={expense.status}>
            {words[expense.status]}
            {expense.decidedBy && <span className="unseen"> by {expense.decidedBy}</span>}
          </span>
        </summary>
        {open && expense.runId && <Timeline runId={expense.runId} decidedBy={expense.decidedBy} />}
      </details>
    </li>
  );
}
