/**
 * Token mode: a JWT in memory, five minutes long, and a session token that fetches the next one. With a bridge, the
 * session token stays in a cookie of the frontend's own server, and this code never gets it.
 * Next hop: `token-source.ts`, direct or by bridge.
 */
import { SvcError } from "../error.ts";
import { orAbort } from "../patience.ts";
import { toUser, type User } from "./state.ts";
import { followOtherTabs, type SessionStorage, sessionKey, userKey } from "./storage.ts";
import type { Credentials, Strategy, StrategyParts } from "./strategy.ts";

/** In milliseconds: a JWT is renewed this long before its end, because requests take time. */
const margin = 20_000;

/** The endpoints, for direct and for bridged clients. */
interface TokenEndpoints {
  signIn: string;
  signUp: string;
  signOut: string;
  token: string;
  exchange: string;
  /** The signed-in user. */
  me: string;
  /** Whether this client stores and sends the session token. */
  holdsSession: boolean;
  social: string;
}

export interface TokenParts extends StrategyParts {
  endpoints: TokenEndpoints;
  storage: SessionStorage;
}

interface Jwt {
  token: string;
  /** In milliseconds, by this machine's clock. */
  expiresAt: number;
}

/** Answers of the endpoints. */
interface TokenAnswer {
  user?: unknown;
  sessionToken?: unknown;
  token?: unknown;
}

export function tokenStrategy({ state, request, endpoints, storage }: TokenParts): Strategy {
  let jwt: Jwt | null = null;
  let refreshing: { era: number; end: Promise<void> } | undefined;
  /** Counts sign-ins and sign-outs: an answer to an earlier request must not change the later state. */
  let era = 0;
  /** With a bridge, only a request can tell whether a session exists; one is enough. */
  let mayHaveSession = !endpoints.holdsSession || storage.getItem(sessionKey) !== null;

  const show = (user: User | null) => state.set(user, user ? (jwt?.token ?? null) : null);

  function enter(answer: TokenAnswer): User {
    const user = toUser(answer.user);
    era++;
    mayHaveSession = true;
    // Other tabs see one write after the other, and read the user when they hear of the session.
    storage.setItem(userKey, JSON.stringify(user));
    if (endpoints.holdsSession) storage.setItem(sessionKey, String(answer.sessionToken));
    jwt = toJwt(answer.token);
    show(user);
    return user;
  }

  function leave(): void {
    era++;
    mayHaveSession = false;
    jwt = null;
    storage.removeItem(sessionKey);
    storage.removeItem(userKey);
    show(null);
  }

  const sessionHeader = (): Record<string, string> => {
    const session = endpoints.holdsSession ? storage.getItem(sessionKey) : null;
    return session ? { authorization: `Bearer ${session}` } : {};
  };

  /** One refresh at a time for all waiting calls. They share its result, and none of them can cancel it for the others. */
  function refresh(): Promise<void> {
    if (refreshing?.era === era) return refreshing.end;
    const end = fetchJwt().finally(() => {
      if (refreshing?.end === end) refreshing = undefined;
    });
    refreshing = { era, end };
    return end;
  }

  async function fetchJwt(): Promise<void> {
    const begun = era;
    try {
      const answer = (await request(endpoints.token, { headers: sessionHeader() })) as TokenAnswer;
      if (begun !== era) return;
      // The service has a new secret: the old signature will become invalid.
      if (endpoints.holdsSession && typeof answer.sessionToken === "string") {
        storage.setItem(sessionKey, answer.sessionToken);
      }
      jwt = toJwt(answer.token);
      show(state.get().user ?? storedUser(storage));
    } catch (error) {
      if (begun !== era) return;
      // The session has ended. Other failures, such as no network, say nothing about it.
      if (error instanceof SvcError && error.status === 401) return leave();
      throw error;
    }
  }

  const restored = storedUser(storage);
  if (restored && mayHaveSession) show(restored);
  /** A sign-in or sign-out in one tab applies to all tabs. A bridge's session is in a cookie, so the user tells of it. */
  const shared = endpoints.holdsSession ? sessionKey : userKey;
  const stopListening = followOtherTabs(shared, () => {
    era++;
    jwt = null;
    mayHaveSession = storage.getItem(shared) !== null;
    show(mayHaveSession ? storedUser(storage) : null);
  });

  const fresh = () => (jwt !== null && jwt.expiresAt - margin > Date.now() ? jwt : null);

  return {
    signIn: async (email, password) => enter(as(await request(endpoints.signIn, { json: { email, password } }))),
    signUp: async (email, password, name) =>
      enter(as(await request(endpoints.signUp, { json: { email, password, name } }))),
    async signOut() {
      const headers = sessionHeader();
      leave();
      await request(endpoints.signOut, { headers });
    },
    async restore() {
      for (let attempt = 1; mayHaveSession; attempt++) {
        if (!fresh()) await refresh();
        if (jwt === null) return null;
        const begun = era;
        try {
          const headers = { authorization: `Bearer ${jwt.token}` };
          const user = toUser(as(await request(endpoints.me, { method: "GET", headers })).user);
          if (begun !== era) return state.get().user;
          storage.setItem(userKey, JSON.stringify(user));
          show(user);
          return user;
        } catch (error) {
          const isRefused = error instanceof SvcError && error.status === 401;
          if (!isRefused || attempt > 1) throw error;
          if (begun === era) jwt = null; // revoked: the session tells whether there is another one
        }
      }
      return null;
    },
    async completeSocialSignIn(code) {
      if (code) return enter(as(await request(endpoints.exchange, { json: { code } })));
      throw new SvcError("BAD_REQUEST", "There is no code to complete the sign-in with.", {
        hint: "Pass the query parameter `code` of the callback URL; on failure it is `error` instead.",
      });
    },
    async call(path, options) {
      if (!endpoints.holdsSession) throw notBridged();
      // Plugins take the session token alone. Without one, the header asks for tokens instead of a cookie.
      const headers = { ...sessionHeader(), "svc-session": "token" };
      const answer = await request(path, { ...options, headers });
      if (typeof as(answer).sessionToken === "string") enter(as(answer));
      return answer;
    },
    socialUrl: (provider, callbackURL) =>
      `${endpoints.social}?${new URLSearchParams({ provider, callbackURL, oauthReturnMode: "token" })}`,
    async credentials(signal) {
      if (!mayHaveSession) return {};
      if (!fresh()) await orAbort(refresh(), signal);
      return jwt === null ? {} : { headers: { authorization: `Bearer ${jwt.token}` } };
    },
    refused(used: Credentials) {
      if (used.headers === undefined) return false;
      // Revoked or too old by the service's clock. Another call may have replaced it already.
      if (used.headers.authorization === `Bearer ${jwt?.token}`) jwt = null;
      return mayHaveSession;
    },
    close: stopListening,
  };
}

const notBridged = () =>
  new SvcError("BAD_REQUEST", "A bridge does not pass on the endpoints of plugins.", {
    hint: "Use cookie mode, or token mode without a bridge.",
  });

const as = (answer: unknown) => (answer ?? {}) as TokenAnswer;

function storedUser(storage: SessionStorage): User | null {
  try {
    return toUser(JSON.parse(storage.getItem(userKey) ?? "null"));
  } catch {
    return null;
  }
}

/** Uses the lifetime and not the end time, because clocks of clients are wrong. @throws SvcError INVALID_ANSWER */
function toJwt(token: unknown): Jwt {
  try {
    const [, payload = ""] = (token as string).split(".");
    const { exp, iat } = JSON.parse(atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
    if (exp - iat > 0) return { token: token as string, expiresAt: Date.now() + (exp - iat) * 1000 };
  } catch {
    // Falls through to the one explanation.
  }
  throw new SvcError("INVALID_ANSWER", "The answer holds no token.");
}
