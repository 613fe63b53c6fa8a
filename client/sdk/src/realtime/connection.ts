/**
 * The socket that all watched queries of a client share: opened with the first, closed after the last, made anew
 * whenever it is lost or somebody else signs in.
 * Next hop: `watched-query.ts` hears what comes.
 */
import type { AuthClient } from "../auth/create-auth-client.ts";
import { authorized, onOtherUser } from "../authorized.ts";
import { SvcError } from "../error.ts";
import { passes, withDeadline } from "../patience.ts";
import { request, type Transport } from "../request.ts";
import type { Frame } from "./frame.ts";
import { type Patience, watchLiveness } from "./liveness.ts";

/** `live`: changes arrive. `connecting` and `degraded`: they may not, and queries are asked again now and then. */
export type RealtimeStatus = "idle" | "connecting" | "live" | "degraded";

/** Who listens to a key. */
export interface KeyListener {
  /**
   * From now on no change is missed; what changed before may have been.
   *
   * @param before an answer that saw all transactions below this id has missed nothing. (Default: ask again)
   * @param isGap all who listen hear it, after a gap in what the service reads. (Default: the service answers to this one)
   */
  subscribed(before?: string, isGap?: true): void;
  /** It was asked again, and had been subscribed all the time: nothing was missed. (Default: nothing to do) */
  renewed?(): void;
  /** @param xid the transaction that changed something */
  changed(xid: string): void;
  /** The service sent a result by itself. @param body encoded, or plain data */
  updated(frame: { result?: unknown; data?: unknown }, xid: string): void;
  /** The service will not let this be watched. */
  refused(error: SvcError): void;
  /** More members of the frame that subscribes. (Default: none) */
  readonly asks?: object;
}

export interface ConnectionOptions {
  transport: Transport;
  auth: AuthClient | undefined;
  WebSocket: typeof globalThis.WebSocket | undefined;
  /** With a service that says nothing. (Default: 25 s, then 10 s for its answer) */
  patience?: Patience;
}

/** In milliseconds. */
const firstRetry = 500;
const longestRetry = 30_000;
const ticketTimeout = 15_000;
/** In characters, as the service has it. A frame of more than 16 KiB would end the socket of all queries. */
const longestKey = 4096;
/** How long a connection without subscriptions is kept: pages replace their queries all the time. */
const idleFor = 2_000;

export class Connection {
  readonly #options: ConnectionOptions;
  readonly #listeners = new Map<string, KeyListener>();
  readonly #watchers = new Set<() => void>();
  /** What the service calls queries that are watched with a grant; several may share a name. */
  readonly #granted = new Map<string, string>();
  /** Tokens of what the last answers read, by key, and the id of the one that the service has taken. */
  readonly #tokens = new Map<string, string>();
  readonly #followed = new Map<string, string>();
  #socket: WebSocket | undefined;
  #status: RealtimeStatus = "idle";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  /** Counts connections: what an earlier one still does is no longer of interest. */
  #era = 0;
  /** In which ids of transactions count. */
  #history: string | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    onOtherUser(options.auth, () => {
      this.#tokens.clear();
      // Somebody else: what the socket may hear was decided for the one before.
      if (this.#listeners.size > 0) this.#open();
    });
  }

  getStatus = (): RealtimeStatus => this.#status;

  subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  listen(key: string, listener: KeyListener): void {
    this.#listeners.set(key, listener);
    this.#subscribe(key);
    if (this.#status === "idle") this.#open();
  }

  /** @param token of what the last answer read: the service then tells changes of that too */
  follow(key: string, token: string): void {
    this.#tokens.set(key, token);
    // The part before the dot is the same for tokens that say the same.
    if (this.#listeners.has(key) && token.split(".")[0] !== this.#followed.get(key)) this.#subscribe(key);
  }

  forget(key: string): void {
    for (const map of [this.#listeners, this.#granted, this.#tokens, this.#followed]) map.delete(key);
    if (this.#socket?.readyState === 1) this.send({ type: "unsubscribe", query: key });
    if (this.#listeners.size > 0) return;
    clearTimeout(this.#timer); // without a socket that of the next try, so `listen` has to begin
    if (this.#socket) this.#timer = setTimeout(() => this.#listeners.size === 0 && this.#shut(), idleFor);
    else this.#shut();
  }

  close(): void {
    this.#shut();
  }

  #shut(status: RealtimeStatus = "idle"): void {
    this.#era++;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = undefined;
    this.#granted.clear();
    this.#followed.clear();
    this.#become(status);
  }

  #open(): void {
    const { WebSocket } = this.#options;
    this.#shut(WebSocket ? "connecting" : "degraded");
    if (!WebSocket) return;
    const era = this.#era;
    this.#address()
      .then((url) => {
        if (era === this.#era) this.#connect(new WebSocket(url), era); // throws where a page over https may not
      })
      .catch(() => this.#retry(era));
  }

  /**
   * Where to connect. A socket carries no headers, so a ticket says who calls. A page in cookie mode needs none: its
   * browser sends the cookie along. Elsewhere only `fetch` has the cookie.
   */
  async #address(): Promise<string> {
    const { transport, auth } = this.#options;
    const base = transport.baseUrl || globalThis.location.origin;
    const url = `${base.replace(/^http/, "ws")}/ws`;
    return withDeadline(ticketTimeout, undefined, async (signal) => {
      const { headers, credentials } = (await auth?.["~svc"].credentials(signal)) ?? {};
      const byFetch = credentials === "include" && typeof document === "undefined";
      if (!headers && !byFetch) return url;
      try {
        const { ticket } = (await this.#ask("/api/realtime/ticket", signal)) as { ticket: string };
        return `${url}?ticket=${encodeURIComponent(ticket)}`;
      } catch (error) {
        // Nobody has signed in yet: what everybody may watch can be watched.
        if (byFetch && error instanceof SvcError && error.status === 401) return url;
        throw error;
      }
    });
  }

  /** Some lists can be watched only with a grant. It expires: a client that continues to watch requests another. */
  async #askForGrant(key: string): Promise<void> {
    const era = this.#era;
    const at = key.indexOf("::");
    const [query, args] = at < 0 ? [key] : [key.slice(0, at), JSON.parse(key.slice(at + 2))];
    const asking = withDeadline(ticketTimeout, undefined, (signal) =>
      this.#ask("/api/realtime/query/authorize", signal, JSON.stringify({ query, args })),
    );
    try {
      const { token, subscriptionKey } = (await asking) as { token: string; subscriptionKey: string };
      if (era !== this.#era || this.#socket?.readyState !== 1 || !this.#listeners.has(key)) return;
      this.#granted.set(key, subscriptionKey);
      this.send({ type: "subscribeQuery", token });
    } catch (error) {
      if (era !== this.#era) return;
      if (!passes(error)) this.#listeners.get(key)?.refused(error as SvcError);
      else this.#socket?.close(); // as if it had been lost: everything is asked for again, later
    }
  }

  #ask(path: string, signal: AbortSignal, body?: string): Promise<unknown> {
    const { transport, auth } = this.#options;
    return authorized(auth, signal, ({ headers, ...rest }) =>
      request(transport, path, {
        ...rest,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body }),
        signal,
      }),
    );
  }

  #connect(socket: WebSocket, era: number): void {
    this.#socket = socket;
    const ask = () => socket.readyState === 1 && socket.send('{"type":"ping"}');
    const lost = () => {
      socket.onclose = null; // comes late, for nobody answers
      socket.close();
      this.#retry(era);
    };
    const liveness = watchLiveness(ask, lost, this.#options.patience);
    socket.onopen = () => {
      if (era !== this.#era) return;
      for (const key of this.#listeners.keys()) this.#subscribe(key);
    };
    socket.onmessage = ({ data }) => {
      if (era !== this.#era) return;
      liveness.heard();
      this.#receive(JSON.parse(String(data)) as Frame);
    };
    socket.onclose = () => {
      liveness.stop();
      this.#retry(era);
    };
    socket.onerror = () => {}; // a close follows
  }

  #retry(era: number): void {
    if (era !== this.#era) return;
    this.#socket = undefined;
    this.#become("degraded");
    const longest = Math.min(firstRetry * 2 ** this.#attempt++, longestRetry);
    // Full jitter: after a restart of the service everybody comes, but not at once.
    this.#timer = setTimeout(() => era === this.#era && this.#open(), Math.random() * longest);
  }

  #receive(frame: Frame): void {
    const { query = "", xid = "0" } = frame;
    const listener = this.#listeners.get(query);
    switch (frame.type) {
      case "status":
        this.#hearStatus(frame);
        break;
      case "subscribed":
      case "query:subscribed":
        if (listener) this.#followed.set(query, frame.follows ?? "");
        // Until changes arrive the query is asked again now and then, and once more when they do.
        if (this.#status === "live") frame.renewed ? listener?.renewed?.() : listener?.subscribed(frame.before);
        break;
      case "invalidate":
        for (const key of frame.queries ?? []) this.#listeners.get(key)?.changed(xid);
        break;
      case "query:invalidate":
        for (const [key, name] of this.#granted) {
          if (name === frame.subscriptionKey) this.#listeners.get(key)?.changed(xid);
        }
        break;
      case "query:updated":
        listener?.updated(frame, xid);
        break;
      case "resync":
        this.#resync(frame.before);
        break;
      case "revoked":
        if (listener) void this.#askForGrant(query);
        break;
      case "error":
        if (listener) this.#hearRefusal(query, listener, frame);
    }
  }

  #hearStatus({ flow = "degraded", history }: Frame): void {
    this.#attempt = 0;
    this.#become(flow);
    const known = this.#history;
    this.#history = history ?? known;
    // After a failover or a restore, ids that an answer saw may be of other transactions.
    if (known && known !== this.#history) this.#resync();
  }

  #hearRefusal(query: string, listener: KeyListener, frame: Frame): void {
    const { code = "INTERNAL", error = code } = frame;
    if (code === "GRANT_REQUIRED") void this.#askForGrant(query);
    else listener.refused(new SvcError(code, error, frame));
  }

  /** @param before see `KeyListener`; without it each query is asked again */
  #resync(before?: string): void {
    for (const listener of this.#listeners.values()) listener.subscribed(before, true);
  }

  /** While the socket is open. When it opens, all listeners are. */
  #subscribe(query: string): void {
    const listener = this.#listeners.get(query);
    if (this.#socket?.readyState !== 1) return;
    if (query.length > longestKey) listener?.refused(new SvcError("BAD_REQUEST", "Too long to watch."));
    else this.send({ type: "subscribe", query, follows: this.#tokens.get(query), ...listener?.asks });
  }

  /** While there is a socket. */
  send(frame: object): void {
    this.#socket?.send(JSON.stringify(frame));
  }

  #become(status: RealtimeStatus): void {
    if (status === this.#status) return;
    this.#status = status;
    for (const watcher of [...this.#watchers]) watcher();
  }
}
