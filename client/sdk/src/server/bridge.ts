/**
 * The bridge: authentication endpoints on the frontend's own server, for a backend on another host. The browser gets
 * the JWT. The session token stays in a sealed cookie of the frontend, which no script and no other host can read.
 * Next hop: `guard.ts` for allowed requests, `backend.ts` for calls, `sealed-session.ts` for the cookie.
 */
import { toUser, type User } from "../auth/state.ts";
import { SvcError } from "../error.ts";
import { type BackendAnswer, type BackendCall, createBackend, unavailable } from "./backend.ts";
import { answer, handOn, redirect, refusal } from "./bridge-answer.ts";
import { setCookie } from "./cookie-header.ts";
import { readJsonText, requireJson, requireOwnPage } from "./guard.ts";
import { type ClientAddressOptions, createHandAddress } from "./hand-address.ts";
import { latest } from "./latest-user.ts";
import { bareOrigin, isThisMachine } from "./own-origin.ts";
import { openCookie } from "./read-bridge-session.ts";
import { Refreshes } from "./refreshes.ts";
import { lifetime, type SealedSession, seal } from "./sealed-session.ts";
import { type BridgeSessionOptions, checkSession, nameOf } from "./session-settings.ts";

export interface BridgeOptions {
  /** The backend's origin, as this server reaches it, for example https://api.example.com */
  baseUrl: string;
  session: BridgeSessionOptions;
  /** The frontend's own origins. Name them behind a proxy. (Default: the origin of the request's URL) */
  origin?: string | readonly string[] | undefined;
  /** Where the handlers are mounted. (Default: "/api/auth") */
  basePath?: string | undefined;
  /** The page that completes a social sign-in. (Default: "/auth/callback") */
  oauthCallbackPath?: string | undefined;
  /** Sends the visitor's address to the backend. (Default: its limits count all visitors as this server) */
  clientAddress?: ClientAddressOptions | undefined;
}

/** For a route that matches everything below `basePath`. Neither handler uses `this`. */
export interface BridgeHandlers {
  GET: (request: Request) => Promise<Response>;
  POST: (request: Request) => Promise<Response>;
}

/** A request to the bridge. */
interface Visit {
  request: Request;
  /** The frontend's origin, as the browser knows it. */
  origin: string;
  /** Whether the cookie is the one for https. */
  secure: boolean;
}

/**
 * Makes the handlers of the bridge.
 *
 * @throws TypeError for invalid options
 * @example
 * export const { GET, POST } = createSvcAuthBridgeHandlers({
 *   baseUrl: "https://api.example.com", session: { password: process.env.BRIDGE_PASSWORD },
 * });
 */
export function createSvcAuthBridgeHandlers(options: BridgeOptions): BridgeHandlers {
  const { basePath = "/api/auth", oauthCallbackPath = "/auth/callback" } = options;
  const baseUrl = bareOrigin(options.baseUrl, "baseUrl");
  const origins = [options.origin ?? []].flat().map((each) => bareOrigin(each, "origin"));
  const settings = checkSession(options.session);
  const backend = createBackend(baseUrl);
  const handAddress = createHandAddress(options.clientAddress);
  const refreshes = new Refreshes<BackendAnswer>();

  const ownOrigins = (request: Request) => (origins.length > 0 ? origins : [new URL(request.url).origin]);
  const visit = (request: Request, origin: string): Visit => {
    const secure = settings.secure ?? !isThisMachine(origin);
    return { request, origin, secure };
  };
  const read = ({ request, secure }: Visit) => openCookie(request.headers.get("cookie"), settings, secure);

  const keep = async (session: SealedSession, { secure }: Visit) => {
    const name = nameOf(settings, secure);
    return setCookie(name, await seal(session, name, settings.passwords), lifetime, secure);
  };
  const clear = ({ secure }: Visit) => setCookie(nameOf(settings, secure), "", 0, secure);

  /** Calls the backend on behalf of the browser. */
  const ask = async ({ request }: Visit, { headers, ...call }: BackendCall) => {
    const known = { ...browserOf(request), ...headers };
    const handed = await handAddress(request, { ...call, headers: known });
    return backend({ ...call, headers: { ...known, ...handed } });
  };

  /** Any sign-in: the session token of the backend's answer goes into the cookie, user and JWT to the browser. */
  async function enter(path: "/sign-in" | "/sign-up" | "/oauth/exchange", at: Visit): Promise<Response> {
    const body = await readJsonText(at.request);
    // A one-time code is bound to the page's origin, which is the frontend's.
    const headers: Record<string, string> = path === "/oauth/exchange" ? { origin: at.origin } : {};
    const given = await ask(at, { path, headers, body });
    if (given.status >= 400) return handOn(given);
    const { sessionToken, token } = given.body;
    if (typeof sessionToken !== "string" || typeof token !== "string") throw incomplete();
    const user = userOf(given.body.user);
    return answer(200, { user, token }, await keep({ user, sessionToken }, at));
  }

  async function refresh(at: Visit): Promise<Response> {
    requireJson(at.request, true);
    const session = await read(at);
    if (!session) return handOn(isOver, clear(at));
    const renew = () => ask(at, { path: "/token", headers: bearer(session) });
    const given = await refreshes.refresh(session.sessionToken, renew, isOver);
    if (given.status >= 400) return handOn(given, given.status === 401 ? clear(at) : undefined);
    const { sessionToken = session.sessionToken, token } = given.body;
    if (typeof sessionToken !== "string" || typeof token !== "string") throw incomplete();
    // Sealed again on each refresh, so that active users stay signed in; signed again after a change of secrets.
    return answer(200, { token }, await keep({ user: latest(session.user, token), sessionToken }, at));
  }

  async function signOut(at: Visit): Promise<Response> {
    requireJson(at.request, true);
    const session = await read(at);
    if (!session) return answer(200, { success: true }, clear(at));
    const end = () => ask(at, { path: "/sign-out", headers: bearer(session) });
    try {
      const given = await refreshes.signOut(session.sessionToken, end, isOver);
      return given.status >= 400 ? handOn(given, clear(at)) : answer(200, { success: true }, clear(at));
    } catch (error) {
      // The session ends in this browser anyway, so that the next user of the browser is not signed in.
      if (error instanceof SvcError) return refusal(signedOutHereOnly(error), clear(at));
      throw error;
    }
  }

  async function who(at: Visit): Promise<Response> {
    const session = await read(at);
    return session ? answer(200, { user: session.user }) : handOn(isOver);
  }

  function toProvider({ request, origin }: Visit): Response {
    const query = new URL(request.url).searchParams;
    const given = query.get("callbackURL") ?? oauthCallbackPath;
    const callback = URL.canParse(given, origin) ? new URL(given, origin) : null;
    if (callback?.origin !== origin) {
      throw new SvcError("BAD_REQUEST", "callbackURL leads away from this frontend.", { status: 400 });
    }
    const url = new URL(`${baseUrl}/api/auth/sign-in/social/redirect`);
    url.searchParams.set("provider", query.get("provider") ?? "");
    url.searchParams.set("callbackURL", callback.href);
    url.searchParams.set("oauthReturnMode", "token");
    return redirect(url);
  }

  const posts: Record<string, (at: Visit) => Promise<Response>> = {
    "/sign-in": (at) => enter("/sign-in", at),
    "/sign-up": (at) => enter("/sign-up", at),
    "/oauth/exchange": (at) => enter("/oauth/exchange", at),
    "/token": refresh,
    "/sign-out": signOut,
  };
  const gets: Record<string, (at: Visit) => Response | Promise<Response>> = {
    "/session": who,
    "/sign-in/social/redirect": toProvider,
  };

  /** The endpoint for a request, from a table. @throws SvcError NOT_FOUND */
  function endpoint<T>(table: Record<string, T>, request: Request): T {
    const { pathname } = new URL(request.url);
    const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length).replace(/\/$/, "") : "";
    const found = Object.hasOwn(table, path) ? table[path] : undefined;
    if (found) return found;
    throw new SvcError("NOT_FOUND", "The bridge has no such endpoint.", {
      status: 404,
      hint: `Its endpoints lie below ${basePath}; change basePath if they are mounted elsewhere.`,
    });
  }

  return {
    GET: (request) =>
      answered(() => {
        const own = ownOrigins(request);
        const here = new URL(request.url).origin;
        return endpoint(gets, request)(visit(request, own.includes(here) ? here : (own[0] as string)));
      }),
    POST: (request) =>
      answered(() => endpoint(posts, request)(visit(request, requireOwnPage(request, ownOrigins(request))))),
  };
}

async function answered(run: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SvcError) return refusal(error);
    throw error;
  }
}

const isOver: BackendAnswer = {
  status: 401,
  body: { error: "Sign in to do this.", code: "UNAUTHORIZED" },
  retryAfter: null,
};

const incomplete = () => unavailable("The backend's answer holds no session.");

const signedOutHereOnly = (cause: SvcError) =>
  new SvcError("UNAVAILABLE", "You are signed out here, but the backend could not be told.", {
    status: 503,
    hint: "The backend's session expires within 7 days.",
    cause,
  });

const bearer = ({ sessionToken }: SealedSession) => ({ authorization: `Bearer ${sessionToken}` });

/** The backend stores the user agent with the session. */
function browserOf(request: Request): Record<string, string> {
  const agent = request.headers.get("user-agent");
  return agent ? { "user-agent": agent } : {};
}

/** @throws SvcError UNAVAILABLE */
function userOf(value: unknown): User {
  try {
    return toUser(value);
  } catch {
    throw incomplete();
  }
}
