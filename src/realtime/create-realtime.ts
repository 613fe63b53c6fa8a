/**
 * Realtime, put together: the reader of the write-ahead log, the hub, and the endpoint for sockets.
 * Next hop: `replication.ts` → `transaction-events.ts` → `hub.ts` → `socket.ts`.
 */
import type { Logger } from "pino";
import type { Authenticate, Session } from "../auth/session.ts";
import type { Api } from "../define/api.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import { type Flow, Hub, type Rerun } from "./hub.ts";
import { ChangeReader } from "./replication.ts";
import { SocketEndpoint } from "./socket.ts";
import { transactionEvents } from "./transaction-events.ts";
import { WatchRules } from "./watch-rules.ts";

export interface RealtimeOptions {
  api: Api;
  /** For replication; see `ChangeReader`. */
  url: string;
  origins: OriginPolicy;
  authenticate: Authenticate;
  redeem(ticket: string): Promise<Session | null>;
  rerun: Rerun;
  log: Logger;
}

export interface Realtime {
  upgrade: SocketEndpoint["upgrade"];
  revoke: SocketEndpoint["revoke"];
  /** Whether events arrive, and how many listen. */
  state(): { flow: Flow; connections: number };
  close(): Promise<void>;
}

export function createRealtime({ api, url, rerun, log, ...rest }: RealtimeOptions): Realtime {
  const { procedures, crud } = api["~svc"];
  const hub = new Hub(rerun);
  const reader = new ChangeReader({ url, listener: transactionEvents(crud, hub, log), log });
  const rules = new WatchRules(procedures, crud);
  // Reading the log costs the server something: it begins when the first socket is there to hear of it.
  const endpoint = new SocketEndpoint({ ...rest, hub, rules, opened: () => reader.start() });
  return {
    upgrade: endpoint.upgrade,
    revoke: (isTheirs) => endpoint.revoke(isTheirs),
    state: () => ({ flow: hub.flow, connections: hub.connections }),
    async close() {
      await endpoint.close();
      await reader.stop();
    },
  };
}
