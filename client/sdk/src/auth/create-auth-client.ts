/**
 * `createAuthClient`: signing in and out, in token mode, in cookie mode, or through a bridge on the frontend's own server.
 * Next hop: `token-strategy.ts`, `cookie-strategy.ts`.
 */
import { authorized } from "../authorized.ts";
import { SvcError } from "../error.ts";
import { withDeadline } from "../patience.ts";
import { baseOf, request as send, type Transport } from "../request.ts";
import { type AccountCalls, accountCalls } from "./account.ts";
import { cookieStrategy } from "./cookie-strategy.ts";
import { Flow } from "./flow.ts";
import { type AuthState, StateStore, type User } from "./state.ts";
import { localStorageOrMemory, memoryStorage, type SessionStorage, sessionKey } from "./storage.ts";
import type { AuthRequest, Credentials, Strategy } from "./strategy.ts";
import { tokenStrategy } from "./token-strategy.ts";

export interface AuthClientOptions {
  /** `token`: a JWT in memory, for a frontend on another origin. `cookie`: for the same origin. (Default: token) */
  strategy?:
    | { kind: "token"; sessionTokenStorage?: "local" | "memory" | SessionStorage | undefined }
    | { kind: "cookie" }
    | undefined;
  /**
   * Token mode: where the session token stays; with `memory` a reload signs out. An app without localStorage passes a
   * storage of its own, such as one of `loadStorage`. In `strategy` too. (Default: "local")
   */
  sessionTokenStorage?: "local" | "memory" | SessionStorage | undefined;
  /** Token mode: the token of an existing session, for a test or a script. `restore()` fetches its user. */
  sessionToken?: string | undefined;
  /** Token mode through the frontend's own server, which stores the session token in a sealed cookie. */
  authBridge?:
    | {
        /** Where the bridge's handlers are. (Default: "/api/auth") */
        basePath?: string | undefined;
        /** The page that completes a social sign-in. (Default: "/auth/callback") */
        oauthCallbackPath?: string | undefined;
      }
    | undefined;
  /** In milliseconds, for each call to the authentication endpoints. (Default: 30000) */
  timeoutMs?: number | undefined;
  /** (Default: the global one) */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Signs in and out, and returns the signed-in user. */
export interface AuthClient extends AccountCalls {
  /** @throws SvcError INVALID_CREDENTIALS, VALIDATION_FAILED, RATE_LIMITED, NETWORK_ERROR */
  signIn(email: string, password: string): Promise<User>;
  /** @throws SvcError EMAIL_TAKEN, VALIDATION_FAILED, RATE_LIMITED, NETWORK_ERROR */
  signUp(email: string, password: string, name: string): Promise<User>;
  /** Token mode deletes the session locally even if the service cannot be reached; cookie mode cannot. */
  signOut(): Promise<void>;
  /**
   * Redirects to the provider.
   *
   * @param provider `google`, or one that `auth.ts` names: `github`, `microsoft`, `apple`, or a name of `social.oidc`
   * @param options.callbackURL the page to return to, on a listed origin
   */
  signInSocial(provider: string, options?: { callbackURL?: string | undefined }): Promise<void>;
  /**
   * Completes a social sign-in on the callback page. Called again on the same page, it gives the same result.
   *
   * @param code token mode: the query parameter `code` (Default: that of the page's URL)
   * @throws SvcError FORBIDDEN if the page has an `error`, or the sign-in was not begun in this browser
   */
  completeSocialSignIn(code?: string): Promise<User>;
  /**
   * Calls an endpoint of a better-auth plugin, or one for API keys, as the signed-in user. If it opens a session, this client is signed in by
   * it, in token mode and in cookie mode.
   *
   * @param path below /api/auth
   * @param body (Default: an empty object)
   * @param options.method (Default: "POST"; others have no body)
   * @returns the endpoint's answer
   * @throws SvcError the endpoint's refusal, its own code as `hint`; RATE_LIMITED, NETWORK_ERROR; BAD_REQUEST by way of a
   *   bridge
   * @example
   * await auth.call("/sign-in/anonymous");
   */
  call<Answer = unknown>(
    path: string,
    body?: object,
    options?: { method?: "GET" | "POST" | "DELETE" | undefined },
  ): Promise<Answer>;
  /** Asks the service for the signed-in user, for example after a reload. Resolves to null if there is none. */
  restore(): Promise<User | null>;
  getState(): AuthState;
  /** Calls back after every change of the state. @returns a function that ends it */
  subscribe(listener: () => void): () => void;
  /** Stops listening to other tabs. */
  close(): void;
  /** For `createSvcClient`. */
  readonly "~svc": Pick<Strategy, "credentials" | "refused">;
}

/**
 * Makes the client of the authentication endpoints.
 *
 * @param baseUrl the service's origin, for example https://api.example.com; "" is the page's own
 * @throws TypeError for a baseUrl that is neither an address of HTTP, nor a path, nor "", or for an unknown strategy, storage
 *   or option
 * @example
 * const auth = createAuthClient("http://localhost:4000");
 * await auth.signIn("ann@example.com", "correct horse");
 */
export function createAuthClient(baseUrl: string, options: AuthClientOptions = {}): AuthClient {
  const { authBridge: bridge, timeoutMs = 30_000 } = options;
  // One that is mistyped would be left out: a token that was to stay in memory would be stored.
  requireKnown("createAuthClient", options, "strategy sessionTokenStorage sessionToken authBridge timeoutMs fetch");
  requireKnown("authBridge", bridge, "basePath oauthCallbackPath");
  const kind = options.strategy ? options.strategy.kind : "token";
  // A mistyped strategy must not put a session token into the page's storage.
  if (kind !== "token" && kind !== "cookie") throw new TypeError('strategy is { kind: "token" } or { kind: "cookie" }');
  requireKnown("strategy", options.strategy, "kind sessionTokenStorage");
  const byCookie = kind === "cookie";
  const base = baseOf(baseUrl);
  const path = bridge ? (bridge.basePath ?? "/api/auth") : "/api/auth";
  const transport: Transport = { baseUrl: (bridge ? "" : base) + path, fetch: fetchOf(options) };
  const credentials = bridge ? "same-origin" : byCookie ? "include" : "omit";

  const request: AuthRequest = (endpoint, { json, headers, ...rest } = {}) =>
    withDeadline(timeoutMs, undefined, (signal) =>
      send(transport, endpoint, {
        credentials,
        headers: { ...headers, ...(json && { "content-type": "application/json" }) },
        ...(json && { body: JSON.stringify(json) }),
        ...rest,
        signal,
      }),
    );

  const here = () => globalThis.location as Location | undefined;
  const state = new StateStore();
  const social = `${transport.baseUrl}/sign-in/social/redirect`;
  const inStrategy = options.strategy?.kind === "token" ? options.strategy.sessionTokenStorage : undefined;
  const kept = options.sessionTokenStorage ?? inStrategy ?? "local";
  if (kept !== "local" && kept !== "memory" && typeof kept !== "object") {
    throw new TypeError('sessionTokenStorage is "local", "memory" or an object with getItem, setItem and removeItem');
  }
  const local = localStorageOrMemory();
  const flow = new Flow(local);
  const storage = typeof kept === "object" ? kept : kept === "memory" ? memoryStorage() : local;
  if (options.sessionToken !== undefined) storage.setItem(sessionKey, options.sessionToken);
  const strategy = byCookie
    ? cookieStrategy({ state, request, social, storage: local })
    : tokenStrategy({
        state,
        request,
        endpoints: {
          signIn: "/sign-in",
          signUp: "/sign-up",
          signOut: "/sign-out",
          token: "/token",
          exchange: "/oauth/exchange",
          me: bridge ? "/session" : "/me",
          // While a server renders a page, a bridge cannot be reached and nobody is signed in.
          holdsSession: !bridge || !(options.fetch ?? here()),
          social,
        },
        storage,
      });
  // A reloaded page has the cookie but not the user. A failure is harmless, because the server checks every call.
  if (byCookie && typeof document !== "undefined") strategy.restore().catch(() => {});

  const service: Transport = { ...transport, baseUrl: `${base}/api/auth` };
  const account = accountCalls({
    strategy,
    send: (endpoint, body, asUser) =>
      withDeadline(timeoutMs, undefined, (signal) => {
        const run = ({ headers, ...rest }: Credentials) => {
          const json = { ...headers, "content-type": "application/json" };
          return send(service, endpoint, { ...rest, headers: json, body: JSON.stringify(body), signal });
        };
        if (!asUser) return run({ credentials: byCookie ? "include" : "omit" });
        return authorized({ getState: state.get, "~svc": strategy }, signal, run);
      }),
  });

  let completing: { key: string; end: Promise<User> } | undefined;
  state.subscribe(() => {
    if (!state.get().isAuthenticated) completing = undefined;
  });

  async function complete(code: string | undefined, search: string): Promise<User> {
    const query = new URLSearchParams(search);
    if (here() && !byCookie) flow.requireBegun(query);
    const failure = query.get("error");
    // A user who was signed in before is not the user of this failed sign-in.
    if (code === undefined && failure !== null) {
      const why = /^[a-z_]{1,40}$/.test(failure) ? failure : "provider_error";
      throw new SvcError("FORBIDDEN", `The sign-in failed: ${why}.`, {
        hint: "The reference of authentication explains it.",
      });
    }
    return strategy.completeSocialSignIn(code ?? query.get("code") ?? undefined);
  }

  return {
    signIn: strategy.signIn,
    signUp: strategy.signUp,
    signOut: strategy.signOut,
    restore: strategy.restore,
    call: async <Answer>(
      path: string,
      body: object = {},
      { method = "POST" }: { method?: "GET" | "POST" | "DELETE" } = {},
    ) => (await strategy.call(path, { method, ...(method === "POST" && { json: body }) })) as Answer,
    ...account,
    async signInSocial(provider, { callbackURL } = {}) {
      const location = here();
      if (!location) throw new SvcError("BAD_REQUEST", "Social sign-in begins in a browser.");
      const target = callbackURL ?? bridge?.oauthCallbackPath ?? (bridge ? "/auth/callback" : location.href);
      const callback = new URL(target, location.href);
      // In cookie mode the service itself binds the sign-in to this browser.
      location.assign(strategy.socialUrl(provider, byCookie ? callback.href : flow.begin(callback)));
    },
    completeSocialSignIn(code) {
      const search = here()?.search ?? "";
      // React runs effects twice in development: the code works once, and both calls need the result.
      const key = `${search} ${code}`;
      if (completing?.key === key) return completing.end;
      const end = complete(code, search);
      completing = { key, end };
      end.catch(() => {
        if (completing?.end === end) completing = undefined;
      });
      return end;
    },
    getState: state.get,
    subscribe: state.subscribe,
    close: strategy.close,
    "~svc": { credentials: strategy.credentials, refused: strategy.refused },
  };
}

/** @param known the names of options, with a space between */
function requireKnown(what: string, options: object | undefined, known: string): void {
  const names = known.split(" ");
  const wrong = Object.keys(options ?? {}).find((name) => !names.includes(name));
  if (wrong !== undefined) throw new TypeError(`${what} has no option "${wrong}". It takes ${names.join(", ")}.`);
}

/** A browser's fetch throws if it is called as a method. */
export function fetchOf({ fetch }: { fetch?: typeof globalThis.fetch | undefined }): typeof globalThis.fetch {
  return fetch ?? ((input, init) => globalThis.fetch(input, init));
}
