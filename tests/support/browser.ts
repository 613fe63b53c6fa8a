/** A browser as far as social sign-in needs one: cookies with paths, redirects one by one, one form. */
import { type AuthServer, origin } from "./auth-server.ts";
import type { Script, ScriptedProvider } from "./scripted-provider.ts";

export interface Page {
  status: number;
  /** The target of a redirect as an absolute URL; null otherwise. */
  location: URL | null;
  headers: Headers;
  text: string;
}

export class Browser {
  readonly #server: AuthServer;
  /** By origin, then by name. */
  readonly cookies = new Map<string, Map<string, { value: string; path: string }>>();

  constructor(server: AuthServer) {
    this.#server = server;
  }

  /** Sends one request without following redirects. `https://app.test` is the service. */
  async go(address: string | URL, init: RequestInit = {}): Promise<Page> {
    const url = new URL(address, origin);
    const jar = this.cookies.get(url.origin) ?? new Map();
    this.cookies.set(url.origin, jar);
    const sent = [...jar]
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const target = url.origin === origin ? this.#server.url + url.pathname + url.search : url;
    const response = await fetch(target, {
      ...init,
      redirect: "manual",
      headers: { ...(init.headers as Record<string, string>), ...(sent.length > 0 && { cookie: sent.join("; ") }) },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      const path = /; ?path=([^;]*)/i.exec(line)?.[1] ?? "/";
      if (/max-age=0/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, { value, path });
    }
    const location = response.headers.get("location");
    const text = await response.text();
    return {
      status: response.status,
      location: location === null ? null : new URL(location, url),
      headers: response.headers,
      text,
    };
  }

  /** Begins a sign-in at the service. */
  begin(query: Record<string, string> = {}): Promise<Page> {
    return this.go(`/api/auth/sign-in/social/redirect?${new URLSearchParams({ provider: "google", ...query })}`);
  }

  /** Returns from the provider. */
  back(query: Record<string, string>, provider = "google"): Promise<Page> {
    return this.go(`/api/auth/callback/${provider}?${new URLSearchParams(query)}`);
  }

  /** Begins a sign-in, and returns with the scripted provider's answer. */
  async signIn(provider: ScriptedProvider, script: Script, query: Record<string, string> = {}): Promise<Page> {
    const { location } = await this.begin(query);
    const state = location?.searchParams.get("state") ?? "";
    const nonce = location?.searchParams.get("nonce") ?? "";
    return this.back({ state, code: provider.code(nonce, script) }, query.provider);
  }

  /** Follows the provider's forms until the service redirects elsewhere. @returns the target */
  async walk(start: Page, form: Record<string, string>): Promise<Page> {
    let page = start;
    for (let steps = 0; steps < 12; steps++) {
      const { location } = page;
      if (!location) throw new Error(`Stuck at ${page.status}: ${page.text}`);
      if (location.pathname.startsWith("/interaction/")) {
        await this.go(location);
        const headers = { "content-type": "application/x-www-form-urlencoded" };
        page = await this.go(location, { method: "POST", body: new URLSearchParams(form).toString(), headers });
        continue;
      }
      const wasCallback = location.origin === origin && location.pathname.startsWith("/api/auth/callback/");
      page = await this.go(location);
      if (wasCallback) return page;
    }
    throw new Error("The provider sends the browser round and round.");
  }
}

/** Exchanges the code in a page's URL, as its script does. */
export function exchange(
  server: AuthServer,
  code: unknown,
  from: string | null = "https://front.test",
  agent = "page",
) {
  const headers = { "user-agent": agent, ...(from !== null && { origin: from }) };
  return server.post("/oauth/exchange", { code }, { headers });
}

/** The parameters of a page's redirect. */
export const results = (page: Page) => Object.fromEntries(page.location?.searchParams ?? []);
