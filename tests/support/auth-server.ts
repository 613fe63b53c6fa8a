/** Authentication alone behind real HTTP: its router, the service's own error answers, and `/caller`. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import pg from "pg";
import { type Auth, createAuth } from "../../src/auth/create-auth.ts";
import type { AttemptLimits } from "../../src/auth/passwords/attempt-counters.ts";
import type { ProviderSettings } from "../../src/auth/social/provider.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { notFound, renderError } from "../../src/http/errors.ts";
import { AnswersUnderWay, defaultHeaders, observer } from "../../src/http/exchange.ts";
import { createOriginPolicy } from "../../src/http/origin-policy.ts";
import { SignedClientAddress } from "../../src/http/signed-client-address.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Database } from "./database.ts";
import { raisedLimits } from "./limits.ts";
import { withQuickPasswords } from "./quick-passwords.ts";

export const secret = "a-secret-of-the-tests-0123456789-abcdefghijkl";
/** The public origin of the service; it listens on another port. */
export const origin = "https://app.test";

export interface AuthServerOptions {
  definition?: AuthDefinition;
  google?: ProviderSettings;
  /** Variables of other providers. */
  clients?: Record<string, string>;
  secrets?: string[];
  baseUrl?: string;
  frontendOrigins?: string[];
  /** (Default: `raisedLimits`) */
  limits?: Partial<AttemptLimits>;
  /** (Default: true) */
  production?: boolean;
  /** Trusted proxies, for X-Forwarded-For. (Default: false) */
  trustProxy?: boolean | number;
  /** The URL to listen for revocations. (Default: the database, as svc_replicator) */
  listenUrl?: string;
  /** Hash passwords as an application does. (Default: false) */
  costlyPasswords?: boolean;
  /** Connections. (Default: 5) */
  max?: number;
  /** Secrets with which bridges sign. (Default: none) */
  bridgeSecrets?: string[];
  /** Connect as this login instead of svc_auth. */
  login?: "auth" | "admin";
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check its content
  body: any;
  headers: Headers;
  /** The body as received. */
  text: string;
}

export interface CallOptions {
  bearer?: string;
  headers?: Record<string, string>;
  /** Sent unchanged, instead of JSON. */
  raw?: string | Uint8Array;
}

export const ann = { email: "ann@example.com", password: "correct horse", name: "Ann" };

export class AuthServer {
  readonly auth: Auth;
  /** The endpoints below /api/auth. */
  readonly router: express.Router;
  readonly pool: pg.Pool;
  /** Every logged line, at level trace. */
  readonly log: string[];
  readonly url: string;
  readonly #close: () => Promise<void>;

  constructor(
    auth: Auth,
    router: express.Router,
    pool: pg.Pool,
    log: string[],
    url: string,
    close: () => Promise<void>,
  ) {
    this.auth = auth;
    this.router = router;
    this.pool = pool;
    this.log = log;
    this.url = url;
    this.#close = close;
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const payload = options.raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(payload !== undefined && { "content-type": "application/json" }),
        ...(options.bearer !== undefined && { authorization: `Bearer ${options.bearer}` }),
        ...options.headers,
      },
      ...(payload !== undefined && { body: payload as BodyInit }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), headers: response.headers, text };
  }

  post = (path: string, body?: unknown, options?: CallOptions) => this.call("POST", `/api/auth${path}`, body, options);
  get = (path: string, options?: CallOptions) => this.call("GET", `/api/auth${path}`, undefined, options);
  signUp = (person: Record<string, unknown> = ann) => this.post("/sign-up", person);
  /** The session that the service finds for a credential, or null. */
  caller = async (bearer: string) => (await this.call("GET", "/caller", undefined, { bearer })).body;

  async close(): Promise<void> {
    await this.#close();
  }
}

export async function startAuthServer(db: Database, options: AuthServerOptions = {}): Promise<AuthServer> {
  const lines: string[] = [];
  const log = createLog("trace", { write: (line) => void lines.push(line) });
  const pool = new pg.Pool({ connectionString: db.url(options.login ?? "auth"), max: options.max ?? 5 });
  pool.on("error", () => {}); // the database is dropped before the pool ends
  pool.on("connect", (client) => client.on("error", () => {})); // tests break connections
  const origins = createOriginPolicy({
    configured: options.baseUrl ?? origin,
    listening: "http://localhost:4000",
    frontendOrigins: options.frontendOrigins ?? [],
    customDomains: [],
  });
  const auth = await createAuth({
    pool,
    listenUrl: options.listenUrl ?? db.url("replication"),
    secrets: options.secrets ?? [secret],
    origins,
    definition: options.costlyPasswords ? (options.definition ?? {}) : withQuickPasswords(options.definition ?? {}),
    google: options.google ?? null,
    clients: options.clients,
    handed: new SignedClientAddress(options.bridgeSecrets ?? [], log),
    limits: { ...raisedLimits, ...options.limits },
    production: options.production ?? true,
    log,
  });

  const app = express();
  app.set("trust proxy", options.trustProxy ?? false);
  const observe = observer(log, createMetrics({ auth: pool }, new AnswersUnderWay()), defaultHeaders(origins));
  app.use((request, response, next) => {
    observe(request, response);
    next();
  });
  const router = express.Router({ caseSensitive: true, strict: true });
  await auth.mount(router);
  app.use("/api/auth", router);
  app.get("/caller", async (request, response) => void response.json(await auth.authenticate(request.headers)));
  app.use(notFound, renderError);
  const server = createServer({ keepAliveTimeout: 75_000 }, app).listen(0); // as in the service
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await auth.close();
    await pool.end();
  };
  return new AuthServer(auth, router, pool, lines, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close);
}
