/** `useRealtimeStatus`: whether changes arrive automatically, for a status display. */
import type { RealtimeStatus } from "@svc/client";
import { useSyncExternalStore } from "react";
import { useSvcClient } from "./client-context.ts";

/** `idle` while nothing is watched; `live` when changes arrive; `degraded` when queries are repeated periodically. */
export function useRealtimeStatus(): RealtimeStatus {
  const { realtime } = useSvcClient();
  return useSyncExternalStore(realtime.subscribe, realtime.getStatus, () => "idle");
}
