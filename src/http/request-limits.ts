/**
 * Limits the requests of one address, and of one user, per minute. Each process counts alone: with several processes
 * behind a balancer, the total is that many times higher. For fairness, not for billing. Password attempts are counted
 * separately, in the database (`../auth/passwords/attempts.ts`).
 * Next hop: `src/server/app.ts` counts addresses, `src/service/service.ts` users.
 */
import type { IncomingMessage } from "node:http";
import type { Authenticate, Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { networkOf } from "./client-address.ts";
import type { SignedClientAddress } from "./signed-client-address.ts";

export interface RequestLimitOptions {
  /** Per minute; false: no limit. */
  requestsPerAddress: number | false;
  requestsPerUser: number | false;
  trustProxy: boolean | number;
  /** Signed addresses from bridges, which call on behalf of others. (Default: none are accepted) */
  handed?: SignedClientAddress;
  /** In milliseconds since any fixed moment. (Default: `performance.now`) */
  now?: () => number;
}

/** In milliseconds. All callers share the window: its counts are cleared at once. */
const windowLength = 60_000;

/** Callers per window. Further ones are counted together, so memory stays bounded. */
const maxKnown = 100_000;
const theRest = "";

export class RequestLimits {
  readonly #options: RequestLimitOptions;
  readonly #now: () => number;
  readonly #addresses = new Map<string, number>();
  readonly #users = new Map<string, number>();
  #end = 0;

  constructor(options: RequestLimitOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** @throws SvcError RATE_LIMITED, with the seconds until the window ends */
  countAddress(request: IncomingMessage): void {
    const { requestsPerAddress } = this.#options;
    if (requestsPerAddress === false) return;
    this.#count(this.#addresses, this.networkOf(request), requestsPerAddress);
  }

  /** The client's address, as far as proxies and bridges are trusted. */
  addressOf(request: IncomingMessage): string | undefined {
    const { trustProxy, handed } = this.#options;
    return handed?.read(request) ?? addressOf(request, trustProxy);
  }

  /** The network that a request counts for. */
  networkOf(request: IncomingMessage): string {
    return networkOf(this.addressOf(request));
  }

  /** Counts users too, from any address, once the caller is authenticated. */
  countingUsers(authenticate: Authenticate): Authenticate {
    const { requestsPerUser } = this.#options;
    if (requestsPerUser === false) return authenticate;
    const counted = (session: Session | null) => {
      if (session) this.#count(this.#users, session.user.id, requestsPerUser);
      return session;
    };
    return (headers, access) => {
      const session = authenticate(headers, access);
      return session instanceof Promise ? session.then(counted) : counted(session);
    };
  }

  /**
   * Counts further calls of the same request, such as those of a batch.
   *
   * @throws SvcError as `countAddress`
   */
  countCalls(request: IncomingMessage, session: Session | null, calls: number): void {
    const { requestsPerAddress, requestsPerUser } = this.#options;
    if (requestsPerAddress !== false) this.#count(this.#addresses, this.networkOf(request), requestsPerAddress, calls);
    if (session && requestsPerUser !== false) this.#count(this.#users, session.user.id, requestsPerUser, calls);
  }

  /** The holder of the shares that a call uses: the user, or an anonymous caller's network. */
  holderOf(request: IncomingMessage, session: Session | null): string {
    return session ? session.user.id : this.networkOf(request);
  }

  #count(counts: Map<string, number>, caller: string, limit: number, calls = 1): void {
    const now = this.#now();
    if (now >= this.#end) {
      this.#addresses.clear();
      this.#users.clear();
      this.#end = now + windowLength;
    }
    const known = counts.has(caller) || counts.size < maxKnown ? caller : theRest;
    const count = (counts.get(known) ?? 0) + calls;
    counts.set(known, count);
    if (count <= limit) return;
    throw new SvcError("RATE_LIMITED", "Too many requests. Try again later.", {
      cause: `limits.${counts === this.#users ? "requestsPerUser" : "requestsPerAddress"}`,
      retryAfter: Math.ceil((this.#end - now) / 1000),
    });
  }
}

/** The equivalent of Express's `request.ip`: calls by name never reach Express (docs/adr/0004-calls-before-express.md). */
export function addressOf({ socket, headers }: IncomingMessage, trustProxy: boolean | number): string | undefined {
  const forwarded = headers["x-forwarded-for"];
  if (trustProxy === false || typeof forwarded !== "string") return socket.remoteAddress;
  // From the client to the nearest proxy; each proxy has appended its peer.
  const chain = [...forwarded.split(",").map((address) => address.trim()), socket.remoteAddress];
  return chain[trustProxy === true ? 0 : Math.max(0, chain.length - 1 - trustProxy)];
}
