/**
 * The service under test: real HTTP on a free port, a real database, real sign-ups. Calls of procedures return status,
 * body and headers instead of throwing.
 */
import { join } from "node:path";
import { Writable } from "node:stream";
import { afterAll, beforeAll } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import type { SvcConfig } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Api } from "../../src/contract/api.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Tracing } from "../../src/telemetry/span.ts";
import { crud } from "../fixture/backend/index.ts";
import * as fixture from "../fixture/backend/schema.ts";
import type { Database } from "./database.ts";
import { raisedLimits } from "./limits.ts";
import { withQuickPasswords } from "./quick-passwords.ts";

export interface User {
  id: string;
  email: string;
  /** Session token, 7 days. */
  sessionToken: string;
  /** JWT, 5 minutes. */
  token: string;
}

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of many shapes
  body: any;
  headers: Headers;
}

export const secret = "a secret of at least thirty-two characters";

export class TestService {
  readonly #db: Database;
  readonly #api: Api;
  readonly #config: Partial<SvcConfig>;
  readonly #schema: Record<string, unknown>;
  readonly #tracing: Tracing | undefined;
  readonly #auth: AuthDefinition;
  #service: Service | undefined;
  /** Every line of the log, as text. */
  readonly logged: string[] = [];

  constructor(
    db: Database,
    api: Api,
    config: Partial<SvcConfig>,
    schema: Record<string, unknown> = fixture,
    tracing?: Tracing,
    auth: AuthDefinition = {},
  ) {
    this.#auth = auth;
    this.#schema = schema;
    this.#db = db;
    this.#api = api;
    this.#config = config;
    this.#tracing = tracing;
  }

  get url(): string {
    if (!this.#service) throw new Error("The service has not been started.");
    return this.#service.url;
  }

  /** @param port to restart on the same port. (Default: a free one) */
  async start(port = 0): Promise<void> {
    const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
    const { limits, pool, ...rest } = this.#config;
    const sink = new Writable({
      write: (chunk, _encoding, done) => {
        this.logged.push(String(chunk));
        done();
      },
    });
    this.#service = await startService({
      app: { api: this.#api, auth: withQuickPasswords(this.#auth), schema: this.#schema },
      config: {
        ...base,
        ...(rest as object),
        port,
        limits: { ...base.limits, ...raisedLimits, ...limits },
        pool: { ...base.pool, ...pool },
      },
      urls: this.#db.urls,
      secrets: [secret],
      log: createLog("info", sink, this.#tracing !== undefined),
      tracing: this.#tracing,
    });
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
  }

  /** Signs up a user with a fresh e-mail address. */
  async signUp(name: string): Promise<User> {
    const email = `${name}-${crypto.randomUUID().slice(0, 8)}@example.com`;
    const { status, body } = await this.post("/api/auth/sign-up", { email, password: "correct horse", name });
    if (status !== 200) throw new Error(`Sign-up failed with ${status}: ${JSON.stringify(body)}`);
    return { ...body.user, sessionToken: body.sessionToken, token: body.token };
  }

  /** Calls a query. @param user null for an anonymous call */
  query(user: User | null, name: string, args?: unknown): Promise<Answer> {
    return this.post("/api/query", { name, args }, user);
  }

  /** Calls a mutation. */
  mutate(user: User | null, name: string, args?: unknown): Promise<Answer> {
    return this.post("/api/mutation", { name, args }, user);
  }

  post(path: string, body: unknown, user: User | null = null): Promise<Answer> {
    return this.fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(user) },
      body: JSON.stringify(body),
    });
  }

  /** Sends any request. A JSON answer is parsed; other answers are text. */
  async fetch(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${this.url}${path}`, init);
    const text = await response.text();
    const isJson = /^application\/([\w-]+\+)?json\b/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, body: isJson && text ? JSON.parse(text) : text, headers: response.headers };
  }
}

export const bearer = (user: User | null): Record<string, string> =>
  user ? { authorization: `Bearer ${user.token}` } : {};

/** The fixture's CRUD, with the additions of a test file. */
export function apiWith(bags: Parameters<typeof defineApi>[0] = {}): Api {
  return defineApi({ ...bags, procedures: { ...crud, ...bags.procedures } });
}

/** Starts a service for a test file, on the file's own database. Call it at the top of the file, after `database()`. */
export function service(
  db: Database,
  api: Api = apiWith(),
  config: Partial<SvcConfig> = {},
  tracing?: Tracing,
  auth?: AuthDefinition,
): TestService {
  const running = new TestService(db, api, config, undefined, tracing, auth);
  beforeAll(() => running.start());
  afterAll(() => running.stop());
  return running;
}
