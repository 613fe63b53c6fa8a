/**
 * A workflow across the two people: Ann files an expense, Bob decides, and somebody kills the process that pays.
 * Next hop: `backend/expenses.ts`.
 */
import { SvcProvider, useAuth, useMutation, useQuery, useWorkflow } from "@svc/react";
import source from "../../backend/expenses.ts?raw";
import { DecisionRow, type Expense } from "../expenses/decision-row.tsx";
import { money } from "../expenses/money.ts";
import { Timeline } from "../expenses/timeline.tsx";
import { useAnnounce } from "../parts/announcer.tsx";
import { api } from "../svc/api.ts";
import type { Guest } from "./guests.ts";

const taxi = { purpose: "Taxi to Busan", cents: 120_00 };
const lines = source.slice(source.indexOf("export const approve"), source.indexOf("/** The row and the checkpoint"));

export function Approval({ guests: [ann, bob] }: { guests: Guest[] }) {
  return (
    <section className="card" aria-labelledby="approval">
      <h3 id="approval">A workflow across two people</h3>
      <p className="soft">
        Ann files an expense, and Bob decides. Kill the process that pays, in the middle of it: the run continues where
        it was, and pays once.
      </p>
      <div className="panes">
        {ann && (
          <SvcProvider apiClient={ann.client}>
            <Filed />
          </SvcProvider>
        )}
        {bob && (
          <SvcProvider apiClient={bob.client}>
            <Decisions />
          </SvcProvider>
        )}
      </div>
      <details>
        <summary>The lines of the workflow</summary>
        <pre>{lines}</pre>
      </details>
    </section>
  );
}

function Filed() {
  const { user } = useAuth();
  const announce = useAnnounce();
  const own = useQuery(api.expenses.list, { filters: { userId: user?.id ?? "" }, limit: 1 });
  const file = useMutation(api.expenses.file, { onError: announce });
  const expense = own.data?.data[0];
  return (
    <div>
      <h4>Ann</h4>
      <button type="button" onClick={() => file.mutate(taxi)} disabled={file.isPending}>
        File a taxi for {money(taxi.cents)}
      </button>
      {expense?.runId && <Run key={expense.runId} expense={expense} runId={expense.runId} />}
    </div>
  );
}

function Run({ expense, runId }: { expense: Expense; runId: string }) {
  const announce = useAnnounce();
  const { data: run } = useWorkflow(runId);
  const kill = useMutation(api.workflows.signal, { onError: announce });
  const isPaying = run?.status !== "completed" && run?.steps.some(({ name }) => name === "begin to pay");
  return (
    <>
      <Timeline runId={runId} decidedBy={expense.decidedBy} />
      {isPaying && (
        <button
          type="button"
          disabled={kill.isPending || kill.isSuccess}
          onClick={() => kill.mutate({ id: runId, event: "kill", payload: null })}
        >
          {kill.isSuccess ? "Killed: another process continues" : "Kill the process"}
        </button>
      )}
    </>
  );
}

function Decisions() {
  const { user } = useAuth();
  const waiting = useQuery(api.expenses.list, { filters: { status: "waiting" }, limit: 20 });
  const others = waiting.data?.data.filter(({ userId }) => userId !== user?.id) ?? [];
  return (
    <div>
      <h4>Bob</h4>
      {others.length === 0 && <p className="soft">Nothing waits for Bob’s decision.</p>}
      <ul className="rows" aria-label="Waiting for Bob’s decision">
        {others.map((expense) => (
          <DecisionRow key={expense.id} expense={expense} />
        ))}
      </ul>
    </div>
  );
}
