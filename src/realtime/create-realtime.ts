/**
 * Realtime, put together: the reader of the write-ahead log, the registry of subscriptions, and the endpoint for sockets.
 * Next hop: `replication.ts` → `transaction-events.ts` → `subscription-registry.ts` → `socket.ts`. `subscription-topics.ts`
 * decides which queries an event concerns; `client/sdk/src/realtime/watched-query.ts` whether the client refetches.
 */
import type { Logger } from "pino";
import type { Api } from "../contract/api.ts";
import type { FollowedTable } from "../crud/followed-tables.ts";
import type { Session } from "../kit/session.ts";
import type { Tracing } from "../telemetry/span.ts";
import { changeDecoder } from "./change-decoder.ts";
import { ChannelRates } from "./channel-limits.ts";
import type { ChannelSocket } from "./channel-member.ts";
import type { Broadcast } from "./channel-outbox.ts";
import { type AskJoin, Channels, type ChannelsOptions } from "./channels.ts";
import { FollowedReads } from "./followed-reads.ts";
import { Grants } from "./grants.ts";
import type { Rerun } from "./refreshes.ts";
import { ChangeReader } from "./replication.ts";
import { SharedChanges } from "./shared-changes.ts";
import { SocketEndpoint, type SocketOptions } from "./socket.ts";
import { type Flow, SubscriptionRegistry } from "./subscription-registry.ts";
import { SubscriptionTopics } from "./subscription-topics.ts";
import { traceDelivery } from "./trace-delivery.ts";
import { type EventSink, transactionEvents } from "./transaction-events.ts";

export interface RealtimeOptions
  extends Pick<SocketOptions, "origins" | "authenticate" | "checkHost" | "count" | "addresses" | "redeem"> {
  api: Api;
  /** The tables that watched queries may follow. */
  tables: readonly FollowedTable[];
  /** For replication; see `ChangeReader`. */
  url: string;
  /** Whether the process that started this one reads the log for it. */
  sharesChanges: boolean;
  /** Called with each notice that sessions have ended; it has to call `revoke` before it returns. */
  hearEnd(notice: string): void;
  rerun: Rerun;
  /** Asks whether a caller may be in a channel. @param reads made here */
  join(reads: FollowedReads): AskJoin;
  broadcast: Broadcast;
  /** The same of durable channels. */
  store: Broadcast;
  answer: ChannelsOptions["answer"];
  /** They sign grants; newest first. */
  secrets: readonly string[];
  log: Logger;
  production: boolean;
  /** Undefined when tracing is off. */
  tracing: Tracing | undefined;
}

export interface RealtimeState {
  /** "idle" until the first connection: then nothing is read. */
  flow: Flow | "idle";
  connections: number;
  subscriptions: number;
  deliveries: number;
  /** Connections in channels, and the messages that they got or missed. */
  channelMembers: number;
  channelMessages: number;
  channelMissed: number;
  /** Connections that were closed because they did not read. */
  dropped: number;
  /** In milliseconds, from the commit of the last transaction by the server's clock to its event by ours. */
  lag: number;
}

export interface Realtime {
  upgrade: SocketEndpoint["upgrade"];
  revoke: SocketEndpoint["revoke"];
  /** The sessions of the sockets. */
  sessions(): Iterable<Session>;
  /** For `POST /api/realtime/query/authorize` (src/server/grant-endpoint.ts). */
  grants: Grants;
  rules: SubscriptionTopics;
  /** For `POST /api/query`. */
  reads: FollowedReads;
  /** Whether events arrive, and the numbers of connections, subscriptions and deliveries. */
  state(): RealtimeState;
  close(): Promise<void>;
}

export function createRealtime(options: RealtimeOptions): Realtime {
  const { tables, url, secrets, log, tracing } = options;
  const { procedures, crud, channels: definitions } = options.api["~svc"];
  const registry = new SubscriptionRegistry(options.rerun);
  const reads = new FollowedReads(options);
  const before = () => registry.before;
  const channels = new Channels({ ...options, definitions, ask: options.join(reads), before });
  const sink: EventSink = {
    end: options.hearEnd,
    begun: (xid) => {
      registry.begun(xid);
      channels.begun(xid);
    },
    hears: (topic) => registry.hears(topic) || channels.hears(topic),
    deliver: (events) => {
      if (events.migrated) channels.doubt(events.xid);
      channels.changed(events);
      if (tracing && events.trace) traceDelivery(tracing, registry, events);
      else registry.deliver(events);
    },
    broadcast: (messages) => channels.broadcast(messages),
    live: (before, history) => {
      registry.live(before, history);
      channels.resumed();
    },
    lost: () => {
      registry.lost();
      channels.doubt();
    },
  };
  const events = transactionEvents(crud, sink, log, tables);
  let lag = 0;
  const committed = (at: number) => {
    lag = Math.max(0, Date.now() - at);
    events.committed(at);
  };
  const to = changeDecoder({ ...events, committed });
  const reader = options.sharesChanges ? new SharedChanges({ to, log }) : new ChangeReader({ url, to, log });
  const rules = new SubscriptionTopics(procedures, crud);
  const grants = new Grants(secrets);
  let isReading = false;
  // Reading the log has a cost for the server, so it begins with the first socket.
  const opened = () => {
    isReading = true;
    reader.start();
  };
  const services = {
    definitions,
    channels,
    rates: new ChannelRates(),
    weigh: (socket: ChannelSocket, bytes: number) => registry.weigh(socket, bytes),
    hasRoomFor: (socket: ChannelSocket) => registry.hasRoomFor(socket),
  };
  // Each connection copies them, so no others are among them.
  const { origins, authenticate, checkHost, count, addresses, redeem } = options;
  const asked = { origins, authenticate, checkHost, count, addresses, redeem };
  const endpoint = new SocketEndpoint({ ...asked, registry, rules, grants, reads, opened, channels: services });
  return {
    upgrade: endpoint.upgrade,
    revoke: (ended) => endpoint.revoke(ended),
    sessions: () => endpoint.sessions(),
    grants,
    rules,
    reads,
    state: () => ({
      flow: isReading ? registry.flow : "idle",
      connections: registry.connections,
      subscriptions: registry.subscriptions,
      deliveries: registry.deliveries,
      channelMembers: channels.members,
      channelMessages: channels.delivered,
      channelMissed: channels.missed,
      dropped: endpoint.dropped,
      lag,
    }),
    async close() {
      await endpoint.close();
      await channels.close();
      await reader.stop();
    },
  };
}
