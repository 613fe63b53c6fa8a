/** Converts runs from SQL to the form of `ctx.workflows` and the `workflows.*` procedures. */
import type {
  RunError,
  WorkflowRun,
  WorkflowStatus,
  WorkflowStep,
  WorkflowTimeline,
} from "../contract/workflow-runs.ts";
import { decodeValue, type Stored } from "./encoding.ts";
import { deriveWorkflowStatus } from "./status.ts";

/** As SQL returns it: times are texts, values encoded. */
export type StoredRun = Record<string, string | null> & {
  status: WorkflowStatus;
  args: Stored;
  result: Stored | null;
  error: RunError | null;
};

interface StoredTimeline {
  run: StoredRun;
  steps: (Record<string, string | null> & {
    done: boolean;
    timedOut: boolean;
    result: Stored | null;
    error: RunError | null;
  })[];
  events: (Record<string, string | null> & { payload: Stored })[];
}

export function readRun(stored: StoredRun): WorkflowRun {
  const { status, waitMarker = null, args, result, error } = stored;
  return {
    id: stored.id as string,
    name: stored.name as string,
    version: Number(stored.version),
    status,
    derivedStatus: deriveWorkflowStatus(status, waitMarker),
    waitMarker,
    args: decodeValue(args),
    result: decodeValue(result),
    error,
    attempts: Number(stored.attempts),
    wakeAt: time(stored.wakeAt),
    deadline: time(stored.deadline),
    createdAt: time(stored.createdAt) as Date,
    updatedAt: time(stored.updatedAt) as Date,
    startedAt: time(stored.startedAt),
    finishedAt: time(stored.finishedAt),
  };
}

export function readTimeline({ run, steps, events }: StoredTimeline): WorkflowTimeline {
  return {
    ...readRun(run),
    steps: steps.map((step) => ({
      position: step.position as string,
      kind: step.kind as WorkflowStep["kind"],
      name: step.name as string,
      status: !step.done ? "waiting" : step.error ? "failed" : step.timedOut ? "timed_out" : "completed",
      result: decodeValue(step.result),
      error: step.error,
      dueAt: time(step.dueAt),
      startedAt: time(step.startedAt) as Date,
      finishedAt: time(step.finishedAt),
    })),
    events: events.map((event) => ({
      name: event.name as string,
      payload: decodeValue(event.payload),
      takenBy: event.takenBy ?? null,
      createdAt: time(event.createdAt) as Date,
    })),
  };
}

const time = (text: string | null | undefined) => (text ? new Date(text) : null);
