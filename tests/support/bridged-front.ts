/** A frontend with a bridge on one origin, the service on another, a counting proxy between the two, and browser tabs. */
import { afterAll, beforeAll } from "vitest";
import { type BridgeOptions, createSvcAuthBridgeHandlers } from "../../client/sdk/src/server/index.ts";
import { type FetchServer, serve } from "../../examples/bridge/frontend/fetch-server.ts";
import type { SvcConfig } from "../../src/config/config.ts";
import { CountingProxy } from "./counting-proxy.ts";
import type { Database } from "./database.ts";
import { apiWith, TestService } from "./service.ts";

export const password = "the password of the tests, 32 characters and more";

/** A minimal browser for the bridge: cookies of one origin, and the headers that a browser adds. */
export class Tab {
  readonly #front: () => string;
  /** Cookies of the frontend's origin, by name. */
  readonly cookies: Map<string, string>;
  /** Everything that scripts can read: status, headers without Set-Cookie, body. */
  readonly seen: string[] = [];
  /** Every received Set-Cookie. */
  readonly set: string[] = [];

  constructor(front: () => string, cookies = new Map<string, string>()) {
    this.#front = front;
    this.cookies = cookies;
  }

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** For the SDK, and for tests: relative URLs go to the frontend. */
  fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = new URL(String(input), this.#front());
    const isOwn = url.origin === this.#front();
    const headers = new Headers(init.headers);
    if (isOwn && this.cookie && init.credentials !== "omit") headers.set("cookie", this.cookie);
    if (init.method !== "GET" && !headers.has("origin")) headers.set("origin", this.#front());
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of isOwn ? answer.headers.getSetCookie() : []) {
      this.set.push(line);
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await answer.clone().text();
    const visible = [...answer.headers].filter(([name]) => name !== "set-cookie");
    this.seen.push(`${answer.status} ${JSON.stringify(visible)} ${text}`);
    return answer;
  };

  /** Posts to the bridge. */
  post(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
    return this.fetch(`/api/auth${path}`, { method: "POST", headers: { ...type, ...headers }, ...json });
  }

  get = (path: string) => this.fetch(path, { method: "GET" });

  /** A new page in the same browser. */
  reload = () => new Tab(this.#front, this.cookies);
}

export class BridgedFront {
  readonly #db: Database;
  readonly #config: Partial<SvcConfig>;
  readonly #options: Partial<BridgeOptions>;
  service!: TestService;
  proxy!: CountingProxy;
  front!: FetchServer;
  /** Requests that the frontend's server has received. */
  arrived = 0;
  #awaited: { count: number; reached: () => void } | undefined;

  constructor(db: Database, config: Partial<SvcConfig>, options: Partial<BridgeOptions>) {
    this.#db = db;
    this.#config = config;
    this.#options = options;
  }

  async start(): Promise<void> {
    this.proxy = await CountingProxy.start();
    const bridge = this.bridge();
    this.front = await serve(0, (request) => {
      const answer = request.method === "GET" ? bridge.GET(request) : bridge.POST(request);
      if (++this.arrived === this.#awaited?.count) this.#awaited.reached();
      return answer;
    });
    this.service = new TestService(this.#db, apiWith(), { ...this.#config, frontendOrigins: [this.front.url] });
    await this.service.start();
    this.proxy.target = this.service.url;
  }

  async stop(): Promise<void> {
    await this.front?.stop();
    await this.proxy?.stop();
    await this.service?.stop();
  }

  /** Resolves when this many more requests have arrived. */
  arrivals(count: number): Promise<void> {
    return new Promise((reached) => {
      this.#awaited = { count: this.arrived + count, reached };
    });
  }

  /** Other handlers in front of the same backend. */
  bridge(options: Partial<BridgeOptions> = {}) {
    return createSvcAuthBridgeHandlers({
      baseUrl: this.proxy.url,
      session: { password },
      ...this.#options,
      ...options,
    });
  }

  /** A fresh browser. */
  tab = () => new Tab(() => this.front.url);

  /** A browser with a new user's session. */
  async signedIn(name = "Ann"): Promise<{ tab: Tab; email: string; token: string; sessionToken: string }> {
    const tab = this.tab();
    const email = `${crypto.randomUUID()}@example.com`;
    const answer = await tab.post("/sign-up", { email, password: "correct horse", name });
    const { token } = (await answer.json()) as { token: string };
    return { tab, email, token, sessionToken: this.sessionTokens().at(-1) ?? "" };
  }

  /** Session tokens that the backend has given to the bridge. */
  sessionTokens(): string[] {
    return this.proxy.passed.flatMap(({ answer }) => /"sessionToken":"([^"]+)"/.exec(answer)?.[1] ?? []);
  }
}

/** Starts all of it for a test file. Call it at the top of the file, after `database()`. */
export function bridgedFront(
  db: Database,
  config: Partial<SvcConfig> = {},
  options: Partial<BridgeOptions> = {},
): BridgedFront {
  const running = new BridgedFront(db, config, options);
  beforeAll(() => running.start());
  afterAll(() => running.stop());
  return running;
}
