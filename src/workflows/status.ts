/** What a run is doing, from what is stored of it. Shared by the records of `ctx.workflows` and by applications. */

/** As stored. */
export type WorkflowStatus = (typeof workflowStatuses)[number];
export const workflowStatuses = ["pending", "running", "completed", "failed", "cancelled"] as const;
/** As a person would say it: a pending run is queued, waits for an event, or sleeps. */
export type DerivedWorkflowStatus = Exclude<WorkflowStatus, "pending"> | "queued" | "waiting" | "sleeping";

/**
 * Tells apart what `pending` may mean.
 *
 * @param marker the run's `waitMarker`: `wait:EVENT`, `sleep#POSITION`, or anything else
 * @example
 * deriveWorkflowStatus("pending", "wait:approval"); // "waiting"
 */
export function deriveWorkflowStatus(status: WorkflowStatus, marker?: string | null): DerivedWorkflowStatus {
  if (status !== "pending") return status;
  if (marker?.startsWith("wait:")) return "waiting";
  if (marker?.startsWith("sleep#")) return "sleeping";
  return "queued";
}
