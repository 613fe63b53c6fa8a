/** `ctx.workflows` and its records as handlers see them. `src/workflows/context.ts` implements it. */
import type { Workflow } from "./workflow.ts";

/** The error of a run, as its user may see it. */
export interface RunError {
  /** An error code of procedures, or NON_DETERMINISTIC, UNKNOWN_VERSION. */
  code: string;
  message: string;
  /** How to fix it. */
  hint?: string;
  /** The step that failed. */
  step?: string;
}

/** As stored. */
export type WorkflowStatus = (typeof workflowStatuses)[number];

export const workflowStatuses = ["pending", "running", "completed", "failed", "cancelled"] as const;

/** The status for people: a pending run is queued, waits for an event, or sleeps. */
export type DerivedWorkflowStatus = Exclude<WorkflowStatus, "pending"> | "queued" | "waiting" | "sleeping";

/** One run. */
export interface WorkflowRun {
  id: string;
  /** The workflow's name. */
  name: string;
  version: number;
  /** As stored. */
  status: WorkflowStatus;
  /** Like `status`, with `pending` split into queued, waiting, sleeping. */
  derivedStatus: DerivedWorkflowStatus;
  waitMarker: string | null;
  args: unknown;
  /** Only of a completed run. */
  result: unknown;
  /** Of a failed run, or of the last attempt of a run that will be retried. */
  error: RunError | null;
  /** Errors since the last checkpoint. */
  attempts: number;
  /** The latest time at which a waiting run continues; null: only when an event arrives. */
  wakeAt: Date | null;
  /** The end of its maxDuration. */
  deadline: Date | null;
  createdAt: Date;
  /** Of its last change or step, to the second. */
  updatedAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
}

/** The record of one position of the handler. */
export interface WorkflowStep {
  position: string;
  kind: "step" | "wait" | "sleep";
  name: string;
  status: "completed" | "failed" | "waiting" | "timed_out";
  result: unknown;
  error: RunError | null;
  /** When a wait or sleep times out. */
  dueAt: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
}

export interface WorkflowEvent {
  name: string;
  payload: unknown;
  /** Position of the wait that took the event. */
  takenBy: string | null;
  createdAt: Date;
}

/** One run with all its steps and events, in order. */
export interface WorkflowTimeline extends WorkflowRun {
  steps: WorkflowStep[];
  events: WorkflowEvent[];
}

export interface StartOptions {
  /** The same key of the same user and workflow returns the existing run. At most 200 characters. */
  idempotencyKey?: string;
}

export interface ListOptions {
  status?: WorkflowStatus;
  /** Only workflows of this name. */
  name?: string;
  /** 1 to 100. (Default: 20) */
  limit?: number;
  /** `nextCursor` of the previous page. */
  cursor?: string;
}

/** The `workflows` of a context. */
export interface ContextWorkflows {
  /**
   * Starts a run when the call commits. The run acts as the caller.
   *
   * @param workflow the workflow or its name
   * @throws SvcError VALIDATION_FAILED for wrong arguments, INTERNAL for an unknown name, QUERY_WROTE in a query
   */
  start<Args>(workflow: Workflow<Args> | string, args?: Args, options?: StartOptions): Promise<{ id: string }>;
  /** A run with its steps and events. @throws SvcError NOT_FOUND */
  get(id: string): Promise<WorkflowTimeline>;
  /** Runs, newest first. @throws SvcError BAD_REQUEST for an invalid status or cursor */
  list(options?: ListOptions): Promise<{ items: WorkflowRun[]; nextCursor: string | null }>;
  /**
   * Sends an event, stored until a wait takes it.
   *
   * @param payload what the wait returns. (Default: true, because null means its timeout)
   * @throws SvcError NOT_FOUND, CONFLICT when the run has ended
   */
  signal(id: string, event: string, payload?: unknown): Promise<void>;
  /** Cancels a run. @throws SvcError NOT_FOUND, CONFLICT when it has ended */
  cancel(id: string): Promise<void>;
  /**
   * Resumes a failed or cancelled run.
   *
   * @param options.fromStep name or position of a step: this step and all later records are redone
   * @throws SvcError NOT_FOUND, CONFLICT when it has not failed, BAD_REQUEST for an unknown step
   */
  retry(id: string, options?: { fromStep?: string }): Promise<void>;
}
