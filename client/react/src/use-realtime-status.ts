/** `useRealtimeStatus`: whether changes arrive by themselves, for a light on the page. */
import type { RealtimeStatus } from "@svc/client";
import { useSyncExternalStore } from "react";
import { useSvcClient } from "./client-context.ts";

/** `idle` while nothing is watched; `live` when changes arrive; `degraded` when queries are asked again now and then. */
export function useRealtimeStatus(): RealtimeStatus {
  const { realtime } = useSvcClient();
  return useSyncExternalStore(realtime.subscribe, realtime.getStatus, () => "idle");
}
