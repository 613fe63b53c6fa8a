/** What metrics tell of realtime in this process. Next hop: `src/realtime/create-realtime.ts`. */
import { Gauge, type Registry } from "prom-client";
import { addCounter, addGauge } from "../telemetry/add-metric.ts";
import type { RealtimeState } from "./create-realtime.ts";

export function addRealtimeMetrics(registry: Registry, realtime: () => RealtimeState): void {
  addGauge(registry, "svc_realtime_connections", "Open sockets.", () => realtime().connections);
  addGauge(registry, "svc_realtime_channel_members", "Connections in channels.", () => realtime().channelMembers);
  const subscriptions = "Queries that are watched, over all sockets.";
  addGauge(registry, "svc_realtime_subscriptions", subscriptions, () => realtime().subscriptions);
  new Gauge({
    name: "svc_realtime_flow",
    help: "1 for how changes arrive: live, degraded (clients poll), or idle (nobody has connected yet).",
    labelNames: ["flow"],
    registers: [registry],
    collect() {
      const { flow } = realtime();
      for (const one of ["live", "degraded", "idle"]) this.set({ flow: one }, one === flow ? 1 : 0);
    },
  });
  const lag = "How long after its commit the last transaction was told, by the clocks of server and process.";
  addGauge(registry, "svc_realtime_lag_seconds", lag, () => realtime().lag / 1000, "max");
  const deliveries = "Frames with events, sent to sockets.";
  addCounter(registry, "svc_realtime_deliveries_total", deliveries, () => realtime().deliveries);
  const messages = "Messages of channels, given to members.";
  addCounter(registry, "svc_realtime_channel_messages_total", messages, () => realtime().channelMessages);
  const missed = "The same that slow members missed.";
  addCounter(registry, "svc_realtime_channel_missed_total", missed, () => realtime().channelMissed);
  const dropped = "Sockets closed because they did not read.";
  addCounter(registry, "svc_realtime_dropped_total", dropped, () => realtime().dropped);
}
