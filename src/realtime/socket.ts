/**
 * The WebSocket endpoint, `/ws` and `/api/realtime`: admits connections, and closes them when their session ends.
 * Next hop: `connection.ts`; `src/service/service.ts` calls `revoke` when a session has ended.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";
import type { CheckHost } from "../http/allowed-hosts.ts";
import { toSvcError } from "../http/errors.ts";
import { requireOneHost } from "../http/exchange.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import { STATUS_CODES } from "../kit/node-http.ts";
import { onDemand } from "../kit/on-demand.ts";
import type { Authenticate, Ended, Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { Connection, type ConnectionOptions, connectionLimits } from "./connection.ts";
import type { SocketAddresses } from "./socket-addresses.ts";

const library = onDemand<typeof import("ws")>("ws");

export interface SocketOptions extends Omit<ConnectionOptions, "dropped"> {
  origins: OriginPolicy;
  authenticate: Authenticate;
  checkHost: CheckHost | null;
  /** Refuses an address with too many requests. */
  count(request: IncomingMessage): void;
  addresses: SocketAddresses;
  /** Redeems a ticket for its session, once; null if the ticket is invalid. */
  redeem(ticket: string): Promise<Session | null>;
  /** Called when a client has connected. */
  opened(): void;
}

/** In milliseconds: a client that has not answered a ping by the next one is disconnected. */
const pingEvery = 30_000;

/** In milliseconds: how long a client may take to confirm the close of its connection. */
const closeWithin = 10_000;

/** A variable, because `closeTimeout` is missing in the types of `ws`. */
const serverOptions = {
  noServer: true,
  maxPayload: connectionLimits.frame,
  perMessageDeflate: false,
  closeTimeout: closeWithin,
  // No subprotocol is supported. By default, `ws` accepts the first one that the client offers.
  handleProtocols: () => false as const,
};

const paths = new Set(["/ws", "/api/realtime"]);

export class SocketEndpoint {
  readonly #options: SocketOptions & ConnectionOptions;
  #server: WebSocketServer | undefined;
  readonly #connections = new Set<Connection>();
  /** Sessions that ended during admissions: an admission may have read its session before the end. */
  readonly #admitting = new Set<Ended[]>();
  readonly #timer: NodeJS.Timeout;
  /** Connections that were dropped because they did not read. */
  dropped = 0;

  constructor(options: SocketOptions) {
    this.#options = { ...options, dropped: () => this.dropped++ };
    this.#timer = setInterval(() => {
      for (const connection of this.#connections) connection.ping();
    }, pingEvery);
    this.#timer.unref();
  }

  /** For the server's `upgrade` event. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on("error", () => {}); // without a listener, an early disconnect would end the process
    let address: string | null;
    try {
      address = this.#options.addresses.enter(request, socket);
    } catch (error) {
      refuse(socket, toSvcError(error));
      return;
    }
    const missed: Ended[] = [];
    this.#admitting.add(missed);
    this.#admit(request)
      .finally(() => this.#admitting.delete(missed))
      .then(
        (session) =>
          this.#accepting().handleUpgrade(request, socket, head, (websocket) => {
            const network = this.#options.addresses.networkOf(request);
            const connection = new Connection(websocket, socket, session, { ...this.#options, address, network });
            this.#connections.add(connection);
            for (const ended of missed) connection.revokeIf(matching(ended));
            this.#options.opened();
            websocket.on("close", () => this.#connections.delete(connection));
          }),
        (error: unknown) => refuse(socket, toSvcError(error)),
      );
  };

  /** Ends the connections of a session, of all sessions of a user, or of all signed-in users. */
  revoke(ended: Ended): void {
    for (const missed of this.#admitting) missed.push(ended);
    for (const connection of this.#connections) connection.revokeIf(matching(ended), ended.user === undefined);
  }

  /** The sessions of the connections. */
  *sessions(): Generator<Session> {
    for (const { session } of this.#connections) if (session) yield session;
  }

  /** Closes all connections with the code for a restart, so that clients reconnect to another process. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const connection of this.#connections) connection.close(1012, "the service is restarting");
    this.#accepting().close(); // it then refuses those that are being admitted
  }

  #accepting(): WebSocketServer {
    this.#server ??= new (library().WebSocketServer)(serverOptions);
    return this.#server;
  }

  /** Checked before the upgrade, so that a refused page learns nothing else. */
  async #admit(request: IncomingMessage): Promise<Session | null> {
    const { checkHost, origins, authenticate, redeem } = this.#options;
    requireOneHost(request);
    checkHost?.(request);
    this.#options.count(request);
    const url = URL.parse(request.url ?? "/", origins.own);
    if (!url || !paths.has(url.pathname)) {
      throw new SvcError("NOT_FOUND", "There is no WebSocket here.", {
        hint: `Connect to ${[...paths].join(" or ")}.`,
      });
    }
    const { origin } = request.headers;
    if (origin !== undefined && !origins.allows(origin)) {
      throw new SvcError("FORBIDDEN", "This origin may not connect.", {
        hint: "List it under frontendOrigins in svc.config.ts, spelled as the browser sends it in Origin.",
      });
    }
    const ticket = url.searchParams.get("ticket");
    if (ticket === null) return authenticate(request.headers); // by cookie, or anonymous
    const session = await redeem(ticket);
    if (session) return session;
    throw new SvcError("UNAUTHORIZED", "This ticket is unknown, used or expired. Ask for another.");
  }
}

const matching =
  ({ user, session }: Ended) =>
  (own: Session): boolean =>
    (user ?? own.user.id) === own.user.id && (session ?? own.id) === own.id;

/** The same form as other errors (`src/http/errors.ts`), without a requestId, because no log line would have it. */
function refuse(socket: Duplex, { status, message, code, hint, retryAfter }: SvcError): void {
  const body = JSON.stringify({ error: message, code, ...(hint && { hint }) });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
  ];
  // No server manages this connection any more: a client that keeps it open would hold its file descriptor forever.
  socket.once("finish", () => socket.destroy());
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
