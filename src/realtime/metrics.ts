/** What metrics tell of realtime in this process. Next hop: `src/realtime/create-realtime.ts`. */
import { Counter, Gauge, type Registry } from "prom-client";
import type { RealtimeState } from "./create-realtime.ts";

export function addRealtimeMetrics(registry: Registry, realtime: () => RealtimeState): void {
  const registers = [registry];
  for (const [name, help, count] of [
    ["svc_realtime_connections", "Open sockets.", () => realtime().connections],
    ["svc_realtime_channel_members", "Connections in channels.", () => realtime().channelMembers],
    ["svc_realtime_subscriptions", "Queries that are watched, over all sockets.", () => realtime().subscriptions],
  ] as const) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(count());
      },
    });
  }
  new Gauge({
    name: "svc_realtime_flow",
    help: "1 for how changes arrive: live, degraded (clients poll), or idle (nobody has connected yet).",
    labelNames: ["flow"],
    registers,
    collect() {
      const { flow } = realtime();
      for (const one of ["live", "degraded", "idle"]) this.set({ flow: one }, one === flow ? 1 : 0);
    },
  });
  new Gauge({
    name: "svc_realtime_lag_seconds",
    aggregator: "max",
    help: "How long after its commit the last transaction was told, by the clocks of server and process.",
    registers,
    collect() {
      this.set(realtime().lag / 1000);
    },
  });
  for (const [name, help, count] of [
    ["svc_realtime_deliveries_total", "Frames with events, sent to sockets.", () => realtime().deliveries],
    [
      "svc_realtime_channel_messages_total",
      "Messages of channels, given to members.",
      () => realtime().channelMessages,
    ],
    ["svc_realtime_channel_missed_total", "The same that slow members missed.", () => realtime().channelMissed],
    ["svc_realtime_dropped_total", "Sockets closed because they did not read.", () => realtime().dropped],
  ] as const) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  }
}
