/** What has happened in a run so far, and what it waits for; it grows while somebody looks. */
import { useWorkflow, type WorkflowView } from "@svc/react";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";

type Step = WorkflowView["steps"][number];

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** In a person's words: what is done, and what is awaited. */
const deeds: Record<string, string> = {
  "write the decision down": "The decision was written down",
  "begin to pay": "Payment begins",
  pay: "Paid",
  "remind the colleagues": "Colleagues were reminded",
};

export function Timeline({ runId, decidedBy }: { runId: string; decidedBy: string | null }) {
  const { data: run, error, isPending, refetch } = useWorkflow(runId);
  if (isPending) return <Skeleton rows={2} />;
  if (!run) return error && <Problem error={error} retry={refetch} />;
  return (
    <ol className="timeline" aria-label="What happened" aria-live="polite">
      <Moment state="completed" what="Filed" at={run.createdAt} />
      {run.steps.map((step) => (
        <Moment key={step.position} state={step.status} what={wordsOf(step, decidedBy)} at={step.finishedAt} />
      ))}
      {(run.derivedStatus === "queued" || run.derivedStatus === "running") && (
        <Moment state="waiting" what="Working…" />
      )}
      {run.status === "failed" && <Moment state="failed" what={run.error?.message ?? "Failed"} at={run.finishedAt} />}
    </ol>
  );
}

function wordsOf({ kind, name, status, dueAt, result }: Step, decidedBy: string | null): string {
  if (kind !== "wait") return `${deeds[name] ?? name}${typeof result === "number" ? `, by process ${result}` : ""}`;
  if (status === "timed_out") return "Nobody decided in time";
  if (status === "waiting") return `Waiting for a colleague${dueAt ? `, until ${date.format(dueAt)}` : ""}`;
  const { approved, by } = result as { approved: boolean; by: string };
  return `${approved ? "Approved" : "Refused"} by ${by ?? decidedBy ?? "a colleague"}`;
}

function Moment({ state, what, at }: { state: Step["status"]; what: string; at?: Date | null }) {
  return (
    <li data-state={state}>
      <span>{what}</span>
      {at && <time dateTime={at.toISOString()}>{date.format(at)}</time>}
    </li>
  );
}
