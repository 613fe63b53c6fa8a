/** `useRealtimeStatus`: whether changes arrive automatically, for a status display. */
"use client";

import type { RealtimeStatus } from "@svc/client";
import { useCallback, useSyncExternalStore } from "react";
import { useSvcClient } from "./client-context.ts";

/** `idle` while nothing is watched; `live` when changes arrive; `degraded` when queries are repeated periodically. */
export function useRealtimeStatus(): RealtimeStatus {
  const { realtime } = useSvcClient();
  const subscribe = useCallback(
    // Later: a query that suspends opens the connection while React renders it, and React warns of updates meanwhile.
    (changed: () => void) => realtime.subscribe(() => queueMicrotask(changed)),
    [realtime],
  );
  return useSyncExternalStore(subscribe, realtime.getStatus, () => "idle");
}
