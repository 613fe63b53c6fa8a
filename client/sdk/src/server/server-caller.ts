/**
 * Calls the backend while a page is rendered: as the browser that requests the page (cookie mode), as the session of
 * the bridge, or anonymously.
 * Next hop: `../client.ts`, which knows the wire.
 */
import { fetchOf } from "../auth/create-auth-client.ts";
import { fixedCredentials } from "../auth/fixed-credentials.ts";
import { createSvcClient } from "../client.ts";
import { SvcError } from "../error.ts";
import type { SvcClient } from "../svc-client.ts";
import { cookiePairs, headersOf } from "./cookie-header.ts";
import { bareOrigin } from "./own-origin.ts";
import type { BridgeSession } from "./read-bridge-session.ts";

export interface ServerCallerOptions {
  /** The backend's origin, as this server reaches it. */
  baseUrl: string;
  /** The backend's origin, as browsers know it (its AUTHLIB_URL). (Default: `baseUrl`) */
  origin?: string | undefined;
  /** In milliseconds, for each call with all its tries. (Default: 30000) */
  timeoutMs?: number | undefined;
  /** (Default: the global one, looked up at each call) */
  fetch?: typeof globalThis.fetch | undefined;
}

/** The same as in `createSvcClient`. */
export type ServerCalls = Pick<SvcClient, "query" | "mutate">;

export interface ServerCaller {
  /**
   * Calls as the sender of this request, in cookie mode: with the request's cookies of the service and no others.
   * Mutations are refused (FORBIDDEN) unless a page of the same origin has sent the request.
   */
  forRequest(request: Request | Headers): ServerCalls;
  /** Calls as the user of the bridge's session. */
  forSession(session: BridgeSession): ServerCalls;
  /** Calls anonymously, for pages that are cached for all visitors (ISR). Never sends credentials. */
  prefetchPublic: SvcClient["query"];
}

/**
 * Creates a caller of a backend, for servers. One is enough for the whole process.
 *
 * @example
 * const backend = createServerCaller({ baseUrl: "https://api.example.com" });
 * const posts = await backend.prefetchPublic(api.posts.list, { limit: 5 });
 */
export function createServerCaller(options: ServerCallerOptions): ServerCaller {
  const baseUrl = bareOrigin(options.baseUrl, "baseUrl");
  const origin = bareOrigin(options.origin ?? baseUrl, "origin");
  const plainFetch = fetchOf(options);
  const callWith = (headers: Record<string, string>, fetch = plainFetch) => {
    const { query, mutate } = createSvcClient({ ...options, api: {}, baseUrl, fetch, auth: fixedCredentials(headers) });
    return { query, mutate };
  };

  return {
    forRequest(request) {
      const headers = headersOf(request);
      const cookie = ownCookies(headers.get("cookie"));
      // The backend accepts cookies only from its own pages; `requireOwnPage` has checked that this page is one.
      const { query, mutate } = callWith(cookie ? { cookie, origin } : {});
      const guarded = async (...call: Parameters<typeof mutate>) => {
        requireOwnPage(headers);
        return mutate(...call);
      };
      return { query, mutate: guarded as typeof mutate };
    },
    forSession({ sessionToken }) {
      return callWith({ authorization: `Bearer ${sessionToken}` });
    },
    // Without `cache`: with "no-store" frameworks would treat the page as made for one visitor.
    prefetchPublic: callWith({}, (input, { cache: _, ...init } = {}) => plainFetch(input, init)).query,
  };
}

/** Only the service's cookies, without those of the frontend and of third parties. */
function ownCookies(header: string | null): string {
  const own = cookiePairs(header).filter(({ name }) => /^(__Secure-)?authlib\.[\w.-]+$/.test(name));
  return own.map(({ name, value }) => `${name}=${value}`).join("; ");
}

/**
 * Prevents cross-site request forgery. The browser adds cookies to requests of any page, and the backend cannot see
 * which page sent the request to this server.
 *
 * @throws SvcError FORBIDDEN
 */
function requireOwnPage(headers: Headers): void {
  const site = headers.get("sec-fetch-site");
  if (site === null ? originHost(headers) === headers.get("host") : site === "same-origin") return;
  throw new SvcError("FORBIDDEN", "A mutation needs a request from a page of this origin.", {
    status: 403,
    hint: "While a page is rendered, only query. Change data in answer to a form or a script of the page.",
  });
}

function originHost(headers: Headers): string | undefined {
  const origin = headers.get("origin") ?? "";
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
