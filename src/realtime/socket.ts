/**
 * The WebSocket endpoint, `/ws` and `/api/realtime`: who may connect, what frames mean, and how much one connection may
 * cost. Frames are JSON; docs/reference/realtime.md lists them.
 * Next hop: `watch-rules.ts` for what may be watched, `hub.ts` for what is heard.
 */
import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { Authenticate, Session } from "../auth/session.ts";
import { SvcError } from "../errors/svc-error.ts";
import { toSvcError } from "../http/errors.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import type { Grants } from "./grants.ts";
import type { Hub, Subscriber } from "./hub.ts";
import type { Watched, WatchRules } from "./watch-rules.ts";

export interface SocketOptions {
  hub: Hub;
  rules: WatchRules;
  grants: Grants;
  origins: OriginPolicy;
  authenticate: Authenticate;
  /** The session of a ticket, once; null when it is none. */
  redeem(ticket: string): Promise<Session | null>;
  /** Somebody has connected. */
  opened(): void;
}

/** Limits of one connection. docs/reference/limits.md lists them. */
export const socketLimits = {
  /** Bytes of a frame from the client. */
  frame: 16 * 1024,
  subscriptions: 1_000,
  /** Frames from the client within ten seconds. */
  frames: 2_000,
  /** Bytes that wait to be sent; whoever reads more slowly is dropped, and asks again when it comes back. */
  waiting: 1024 * 1024,
} as const;

/** In milliseconds: who has not answered a ping by the next one is gone. */
const pingEvery = 30_000;

/** In milliseconds: how long a connection that is closed may take to say that it has read so. */
const closeWithin = 10_000;

/** A variable, since the types of `ws` lack `closeTimeout`. */
const serverOptions = {
  noServer: true,
  maxPayload: socketLimits.frame,
  perMessageDeflate: false,
  closeTimeout: closeWithin,
};

const paths = new Set(["/ws", "/api/realtime"]);

export class SocketEndpoint {
  readonly #options: SocketOptions;
  readonly #server = new WebSocketServer(serverOptions);
  readonly #connections = new Set<Connection>();
  readonly #timer: NodeJS.Timeout;
  /** Connections that were dropped because they did not read. */
  dropped = 0;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#timer = setInterval(() => {
      for (const connection of this.#connections) connection.ping();
    }, pingEvery);
    this.#timer.unref();
  }

  /** For the server's `upgrade` event. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => {}); // a client that is gone before it is admitted; without a listener we would be too
    this.#admit(request).then(
      (session) =>
        this.#server.handleUpgrade(request, socket, head, (websocket) => {
          const connection = new Connection(websocket, session, this.#options, () => this.dropped++);
          this.#connections.add(connection);
          this.#options.opened();
          websocket.on("close", () => this.#connections.delete(connection));
        }),
      (error: unknown) => refuse(socket, toSvcError(error)),
    );
  };

  /** Ends the connections of a session, or of all sessions of a user. */
  revoke(isTheirs: (session: Session) => boolean): void {
    for (const connection of this.#connections) connection.revokeIf(isTheirs);
  }

  /** Tells everybody to come back later, and elsewhere. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.close(1012, "the service is restarting");
    this.#server.close();
  }

  /** Before the upgrade, so that a refused page learns nothing but that. */
  async #admit(request: IncomingMessage): Promise<Session | null> {
    const { origins, authenticate, redeem } = this.#options;
    const url = new URL(request.url ?? "/", origins.own);
    if (!paths.has(url.pathname)) throw new SvcError("NOT_FOUND");
    const { origin } = request.headers;
    if (origin !== undefined && !origins.allows(origin)) {
      throw new SvcError("FORBIDDEN", "This origin may not connect.");
    }
    const ticket = url.searchParams.get("ticket");
    if (ticket === null) return authenticate(request.headers); // a cookie, or nobody
    const session = await redeem(ticket);
    if (session) return session;
    throw new SvcError("UNAUTHORIZED", "This ticket is unknown, used or expired. Ask for another.");
  }
}

function refuse(socket: Duplex, { status, message }: SvcError): void {
  const body = JSON.stringify({ error: message });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** A client's connection. */
class Connection implements Subscriber {
  readonly #websocket: WebSocket;
  readonly #session: Session | null;
  readonly #options: SocketOptions;
  #answered = true;
  #frames = 0;
  #since = Date.now();
  readonly #dropped: () => void;
  /** When grants end, by the query's key. */
  readonly #ends = new Map<string, NodeJS.Timeout>();

  constructor(websocket: WebSocket, session: Session | null, options: SocketOptions, dropped: () => void) {
    this.#websocket = websocket;
    this.#session = session;
    this.#options = options;
    this.#dropped = dropped;
    const { hub } = options;
    hub.join(this);
    websocket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    websocket.on("pong", () => {
      this.#answered = true;
    });
    websocket.on("close", () => this.#leave());
    websocket.on("error", () => {}); // a frame that is too large, or a broken one; `ws` closes by itself
    this.send(JSON.stringify({ type: "status", flow: hub.flow }));
  }

  send(frame: string | Buffer): void {
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (this.#websocket.bufferedAmount <= socketLimits.waiting) {
      this.#websocket.send(frame, { binary: false });
      return;
    }
    this.#dropped();
    this.#leave();
    // Behind what is waiting. Who begins to read within `closeTimeout` learns why; nobody else keeps the memory longer.
    this.close(1013, "too slow");
  }

  close(code: number, reason: string): void {
    this.#websocket.close(code, reason);
  }

  ping(): void {
    if (!this.#answered) {
      this.#websocket.terminate();
      return;
    }
    this.#answered = false;
    this.#websocket.ping();
  }

  revokeIf(isTheirs: (session: Session) => boolean): void {
    if (!this.#session || !isTheirs(this.#session)) return;
    this.#leave();
    this.close(4401, "the session has ended");
  }

  /** Nothing is told from now on. */
  #leave(): void {
    this.#options.hub.leave(this);
    for (const timer of this.#ends.values()) clearTimeout(timer);
    this.#ends.clear();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#floods()) {
      this.close(1008, "too many frames");
      return;
    }
    try {
      this.#obey(isBinary ? undefined : parse(data.toString("utf8")));
    } catch (error) {
      const { code, message, hint } = toSvcError(error);
      this.send(JSON.stringify({ type: "error", code, error: message, ...(hint && { hint }) }));
    }
  }

  #floods(): boolean {
    if (Date.now() - this.#since > 10_000) {
      this.#since = Date.now();
      this.#frames = 0;
    }
    this.#frames++;
    return this.#frames > socketLimits.frames;
  }

  #obey(frame: Asked | undefined): void {
    const { rules } = this.#options;
    if (frame?.type === "subscribe") {
      this.#subscribe({ query: frame.query }, () => rules.watch(frame.query, this.#session?.user.id ?? null));
    } else if (frame?.type === "subscribeQuery") {
      this.#subscribe({}, () => this.#redeem(frame.token));
    } else if (frame?.type === "unsubscribe") {
      this.#unsubscribe(String(frame.query ?? frame.subscriptionKey));
    } else {
      throw new SvcError("BAD_REQUEST", "A frame is JSON with a type.", {
        hint: 'Send {"type":"subscribe","query":"tasks.list"} or {"type":"unsubscribe","query":"tasks.list"}.',
      });
    }
  }

  /** @param asked what an error says it is about */
  #subscribe(asked: { query?: unknown }, watch: () => Watched): void {
    const { hub } = this.#options;
    try {
      if (hub.subscriptionsOf(this) >= socketLimits.subscriptions) {
        throw new SvcError("RATE_LIMITED", `A connection watches at most ${socketLimits.subscriptions} queries.`);
      }
      const watched = watch();
      const { key: query, subscriptionKey } = watched;
      hub.subscribe(this, watched);
      const done =
        subscriptionKey === undefined ? { type: "subscribed" } : { type: "query:subscribed", subscriptionKey };
      this.send(JSON.stringify({ ...done, query }));
    } catch (error) {
      const { code, message, hint } = toSvcError(error);
      this.send(JSON.stringify({ type: "error", code, error: message, ...(hint && { hint }), ...asked }));
    }
  }

  /** A grant is for whoever got it: another session of the same user may use it, nobody else. */
  #redeem(token: unknown): Watched {
    const grant = this.#options.grants.open(token);
    if (!grant || grant.user !== (this.#session?.user.id ?? null)) {
      throw new SvcError("FORBIDDEN", "This grant is not valid, or not for you. Ask for another.");
    }
    const { query, subscriptionKey, topics, expiresAt } = grant;
    clearTimeout(this.#ends.get(query));
    const end = setTimeout(() => this.#expire(query, subscriptionKey), expiresAt - Date.now());
    this.#ends.set(query, end.unref());
    return { key: query, subscriptionKey, topics };
  }

  #expire(query: string, subscriptionKey: string): void {
    this.#unsubscribe(query);
    this.send(JSON.stringify({ type: "revoked", query, subscriptionKey, reason: "expired" }));
  }

  #unsubscribe(key: string): void {
    this.#options.hub.unsubscribe(this, key);
    clearTimeout(this.#ends.get(key));
    this.#ends.delete(key);
  }
}

/** What a client may send. */
interface Asked {
  type?: unknown;
  query?: unknown;
  token?: unknown;
  subscriptionKey?: unknown;
}

function parse(text: string): Asked | undefined {
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === "object" && frame !== null ? frame : undefined;
  } catch {
    return undefined;
  }
}
