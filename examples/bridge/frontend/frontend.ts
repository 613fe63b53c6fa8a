/**
 * The frontend: the bridge below /api/auth, scripts and style below /browser and /sdk, and one page, rendered here.
 * Next hop: `page.ts` for the page, `browser/main.ts` for what it does in the browser.
 */
import {
  type BridgeSession,
  createServerCaller,
  createSvcAuthBridgeHandlers,
  readBridgeSession,
} from "@svc/client/server";
import { api } from "./browser/svc/api.ts";
import { browserFile } from "./browser-files.ts";
import type { FetchHandler } from "./fetch-server.ts";
import { page } from "./page.ts";

export interface FrontendOptions {
  /** The backend's origin. */
  backendUrl: string;
  /** Seals the session cookie; 32 characters or more. */
  password: string | undefined;
  /** The backend's SVC_BRIDGE_SECRET, to tell it who asks. (Default: it counts all visitors as one) */
  bridgeSecret?: string | undefined;
}

export function createFrontend({ backendUrl, password, bridgeSecret }: FrontendOptions): FetchHandler {
  const session = { password };
  const from = (request: Request) => request.headers.get("x-client-address");
  const bridge = createSvcAuthBridgeHandlers({
    baseUrl: backendUrl,
    session,
    ...(bridgeSecret && { clientAddress: { secret: bridgeSecret, from } }),
  });
  const backend = createServerCaller({ baseUrl: backendUrl });

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/api/auth/"))
      return request.method === "POST" ? bridge.POST(request) : bridge.GET(request);
    if (pathname !== "/")
      return (await browserFile(pathname)) ?? new Response("There is nothing here.", { status: 404 });

    const visitor = await readBridgeSession(request, session);
    const [motto, notes] = await Promise.all([
      orNull(backend.prefetchPublic(api.site.motto)),
      visitor && orNull(notesOf(visitor)),
    ]);
    return html(page({ backendUrl, user: visitor?.user ?? null, motto: motto?.text ?? null, notes }));
  };

  /** Server to server, with the session token. */
  async function notesOf(visitor: BridgeSession): Promise<string[]> {
    const { data } = await backend.forSession(visitor).query(api.notes.list, { limit: 20 });
    return data.map(({ text }) => text);
  }

  /** One visitor's page is kept by nobody; it may load its own scripts, and call the backend. */
  function html(text: string): Response {
    const policy = `default-src 'self'; connect-src 'self' ${backendUrl}; img-src data:; frame-ancestors 'none'`;
    const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
    return new Response(text, { headers: { ...headers, "content-security-policy": policy } });
  }
}

/** A page without its data is better than none. */
async function orNull<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise;
  } catch (error) {
    console.error(String(error));
    return null;
  }
}
