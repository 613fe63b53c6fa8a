/** Documents that are being read, each with how far that is; what could not be read says why. */
import type { OutputOf } from "@svc/client";
import { useWorkflow } from "@svc/react";
import { useState } from "react";
import type { api } from "../svc/api.ts";

type Run = OutputOf<typeof api.workflows.list>["items"][number];

/** In milliseconds: how long a failure is shown unless it is put away before. */
const failureShownFor = 60 * 60_000;

export function Reading({ runs }: { runs: Run[] }) {
  const [away, setAway] = useState<ReadonlySet<string>>(new Set());
  const isOld = ({ status, createdAt }: Run) =>
    status === "failed" && Date.now() - createdAt.getTime() > failureShownFor;
  const shown = runs.filter((run) => !away.has(run.id) && !isOld(run));
  if (shown.length === 0) return null;
  return (
    <ul className="reading" aria-label="Being read">
      {shown.map((run) => (
        <ReadingRow key={run.id} run={run} onPutAway={() => setAway(new Set([...away, run.id]))} />
      ))}
    </ul>
  );
}

const stages = ["Waiting for its turn", "Reading the document", "Storing its passages"] as const;

function ReadingRow({ run, onPutAway }: { run: Run; onPutAway: () => void }) {
  const isFailed = run.status === "failed";
  const { data } = useWorkflow(isFailed ? null : run.id);
  const { title } = (run.args as { document: { title: string } }).document;
  const steps = data?.steps.length ?? 0;
  const stage = steps > 0 ? 2 : run.derivedStatus === "queued" ? 0 : 1;
  if (isFailed) {
    return (
      <li className="problem">
        <strong>{title} could not be read.</strong>
        <span role="alert">{run.error?.message}</span>
        <button type="button" className="quiet" onClick={onPutAway}>
          Put away
        </button>
      </li>
    );
  }
  return (
    <li>
      <span>{title}</span>
      <span className="soft" role="status">
        {stages[stage]}…
      </span>
      <progress max={3} value={stage + 0.5} aria-label={`Progress of ${title}`} />
    </li>
  );
}
