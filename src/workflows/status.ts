/** Derives a run's status from its stored state. Shared by the records of `ctx.workflows` and by applications. */
import type { DerivedWorkflowStatus, WorkflowStatus } from "../contract/workflow-runs.ts";

/**
 * Distinguishes the meanings of `pending`.
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
