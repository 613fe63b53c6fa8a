/** Receivers that listen, workers that send, and ways to look at the deliveries. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import type { Worker, WorkerOptions } from "../../workers/runner.ts";
import type { Database } from "../support/database.ts";
import { until, workers } from "../support/worker.ts";
import { api } from "./definitions.ts";

/** A secret of the environment, and one of endpoints. */
export const secret = `whsec_${Buffer.alloc(24, "a").toString("base64")}`;
export const otherSecret = `whsec_${Buffer.alloc(32, "b").toString("base64")}`;

export interface Delivery {
  id: string;
  webhook: string;
  endpoint: string;
  state: string;
  attempts: number;
  body: string;
  last_status: number | null;
  last_error: string | null;
}

interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  text: string;
  body: { type: string; operation: string; timestamp: string; data: Record<string, unknown> };
}

/** Call it at the top of the file, after `database()`. */
export function webhooks(db: Database) {
  const got: Got[] = [];
  /** What the receiver answers, by path; a promise is awaited. (Default: 200) */
  const answers = new Map<string, number | Promise<number> | ((request: Got) => Promise<number>)>();
  /** The Retry-After of its answers, by path. */
  const waits = new Map<string, string>();
  let receiver: Server;
  const running: Worker[] = [];
  const start = workers(db, api);

  beforeAll(async () => {
    await db.sql(`insert into auth."user" (id, name, email, email_verified)
      select n, n, n || '@example.com', true from unnest(array['ann', 'bob', 'carl']) n`);
    await db.sql(`set role svc_owner; ${table}; ${webhooksFile(api["~svc"].webhooks)}; reset role`);
    receiver = createServer(async (request, response) => {
      let text = "";
      for await (const part of request) text += part;
      const path = request.url ?? "";
      const one = { path, headers: request.headers, text, body: JSON.parse(text) };
      got.push(one);
      const wait = waits.get(path);
      if (wait) response.setHeader("retry-after", wait);
      const answer = answers.get(path);
      response
        .writeHead((await (typeof answer === "function" ? answer(one) : answer)) ?? 200, { location: "/elsewhere" })
        .end();
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((one) => one.stop()));
    await db.sql("truncate svc.webhook_deliveries, svc_private.webhook_leases, endpoints, notes");
    got.length = 0;
    answers.clear();
    waits.clear();
  });
  afterAll(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const at = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
  const deliveries = () =>
    db.sql<Delivery & Record<string, unknown>>("select * from svc.webhook_deliveries order by sequence");

  /** @param variables of the environment */
  async function config(
    variables: Record<string, string> = {},
    settings: { privateEndpoints?: boolean; timeoutMs?: number } = {},
  ) {
    const env = { DONE_HOOK: at("/done"), DONE_HOOK_SECRET: secret, ...variables };
    const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env });
    return { ...config, webhooks: { ...config.webhooks, privateEndpoints: true, ...settings } };
  }

  return {
    got,
    answers,
    waits,
    at,
    deliveries,
    config,
    /** A worker that stops with its test. */
    async worker(options: Partial<WorkerOptions> = {}) {
      const one = await start({ config: await config(), ...options });
      running.push(one);
      return one;
    },
    /** Makes every pending delivery due, and ends all leases. */
    hurry: () =>
      db.sql(`with due as (update svc.webhook_deliveries set due_at = now() where state = 'pending')
        update svc_private.webhook_leases set busy_until = now();
        notify svc_webhooks`),
    /** Waits until no delivery is pending. */
    settled: () => until(async () => (await deliveries()).every(({ state }) => state !== "pending")),
    async addEndpoint(userId: string, path: string, topics = "note-changed"): Promise<string> {
      const [row] = await db.sql(
        "insert into endpoints (user_id, url, secret, topics) values ($1, $2, $3, array[$4]) returning id",
        [userId, path.startsWith("/") ? at(path) : path, otherSecret, topics],
      );
      return row?.id;
    },
    async addNote(userId: string, title: string): Promise<number> {
      const [row] = await db.sql("insert into notes (user_id, title) values ($1, $2) returning id", [userId, title]);
      return row?.id;
    },
  };
}

const table = `create table public.endpoints (
  id uuid primary key default gen_random_uuid(), user_id text not null, url text not null, secret text not null,
  enabled boolean not null default true, topics text[] not null, deleted_at timestamptz);
  alter table public.endpoints enable row level security;
  create policy all_owner on public.endpoints to svc_authenticated
    using (user_id = (select svc.current_user_id())) with check (user_id = (select svc.current_user_id()));
  grant select, insert, update, delete on public.endpoints to svc_authenticated`;
