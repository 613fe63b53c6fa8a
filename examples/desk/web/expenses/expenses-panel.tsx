/**
 * "Expenses": filing one, those that wait for this person's decision, and one's own with what happens to them.
 * Next hop: `backend/expenses.ts` for the workflow, `timeline.tsx` for what is shown of a run.
 */
import type { User } from "@svc/client";
import { useQuery } from "@svc/react";
import { Empty } from "../parts/empty.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { api } from "../svc/api.ts";
import { DecisionRow } from "./decision-row.tsx";
import { ExpenseRow } from "./expense-row.tsx";
import { NewExpense } from "./new-expense.tsx";

export function ExpensesPanel({ user }: { user: User }) {
  const own = useQuery(api.expenses.list, { filters: { userId: user.id }, limit: 20 });
  const waiting = useQuery(api.expenses.list, { filters: { status: "waiting" }, limit: 100 });
  const toDecide = waiting.data?.data.filter(({ userId }) => userId !== user.id) ?? [];

  return (
    <section className="card" aria-labelledby="expenses-title">
      <div className="bar">
        <h2 id="expenses-title" tabIndex={-1}>
          Expenses
        </h2>
        {toDecide.length > 0 && <span className="count">{toDecide.length} to decide</span>}
      </div>
      <NewExpense />
      {toDecide.length > 0 && (
        <>
          <h3 className="above-rows" id="to-decide" tabIndex={-1}>
            Waiting for your decision
          </h3>
          <ul className="rows" aria-labelledby="to-decide">
            {toDecide.map((expense) => (
              <DecisionRow key={expense.id} expense={expense} />
            ))}
          </ul>
        </>
      )}
      <h3 className="above-rows" id="own-expenses">
        Yours
      </h3>
      {own.isPending && <Skeleton rows={2} />}
      {own.error && !own.data && <Problem error={own.error} retry={own.refetch} />}
      {own.data?.data.length === 0 && (
        <Empty title="No expenses yet.">Up to 50 are paid at once; a colleague decides on more.</Empty>
      )}
      {!!own.data?.data.length && (
        <ul className="rows" aria-labelledby="own-expenses">
          {own.data.data.map((expense, index) => (
            <ExpenseRow key={expense.id} expense={expense} isOpen={index === 0} />
          ))}
        </ul>
      )}
    </section>
  );
}
