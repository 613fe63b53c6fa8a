/** `useWorkflow`: one run with its timeline, which updates while it is mounted. Next hop: `use-query.ts`. */
"use client";

import type { Query } from "@svc/client";
import type { UseQueryResult } from "@tanstack/react-query";
import { skip, useQuery } from "./use-query.ts";

/** A run as `workflows.get` answers. `api.workflows.get` with `useQuery` gives the same. */
export interface WorkflowView {
  id: string;
  name: string;
  status: "pending" | "running" | "completed" | "failed" | "cancelled";
  /** What a pending run waits for. */
  derivedStatus: "queued" | "waiting" | "sleeping" | "running" | "completed" | "failed" | "cancelled";
  args: unknown;
  result: unknown;
  error: { code: string; message: string; step?: string } | null;
  createdAt: Date;
  finishedAt: Date | null;
  steps: {
    position: string;
    kind: "step" | "wait" | "sleep";
    name: string;
    status: "completed" | "failed" | "waiting" | "timed_out";
    result: unknown;
    dueAt: Date | null;
    startedAt: Date;
    finishedAt: Date | null;
  }[];
}

const get: Query<{ id: string }, WorkflowView> = { name: "workflows.get", kind: "query" };

/**
 * A run of the user, fetched again after each of its changes.
 *
 * @param id null: no request
 * @example
 * const { data: run } = useWorkflow(id);
 */
export function useWorkflow(id: string | null): UseQueryResult<WorkflowView> {
  return useQuery(get, id === null ? skip : { id });
}
