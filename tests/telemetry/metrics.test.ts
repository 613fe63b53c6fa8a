// If this file fails, a dashboard or an alert uses a missing metric, a metric is undocumented or wrong, or a stranger
// can read them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveWorkerMetrics } from "../../src/cli/worker-metrics.ts";
import { createHostCheck } from "../../src/http/allowed-hosts.ts";
import { workflow } from "../../src/index.ts";
import { JobMetrics } from "../../src/telemetry/job-metrics.ts";
import { type MetricsAccess, refuseReader } from "../../src/telemetry/metrics-access.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { noPromtool, promtool } from "../support/promtool.ts";
import { rawRequest } from "../support/raw-http.ts";
import { apiWith, service } from "../support/service.ts";
import { workers } from "../support/worker.ts";

const fine = procedure.internal.name("metrics.fine").handler(() => {});
const fails = procedure.internal.name("metrics.fails").handler(() => {
  throw new Error("as it should");
});
const enqueue = procedure.mutation
  .name("metrics.enqueue")
  .allowAnonymous()
  .handler(async ({ context }) => {
    await context.scheduler.runAfter(0, "metrics.fine");
    await context.scheduler.runAfter(0, "metrics.fails");
    await context.scheduler.runAfter(3_600_000, "metrics.fine");
    await context.workflows.start(waits);
  });
const waits = workflow("metrics.waits", { handler: (wf) => wf.waitForEvent("never") });

const db = database();
const api = apiWith({ procedures: { fine, fails, enqueue }, workflows: { waits } });
const running = service(db, api);
const startWorker = workers(db, api);
const jobMetrics = new JobMetrics();
let told: Awaited<ReturnType<typeof serveWorkerMetrics>>;
beforeAll(async () => {
  const checkHost = createHostCheck({ allowedHosts: null, production: false, host: null, origins: [] });
  told = await serveWorkerMetrics(0, jobMetrics, { token: null, open: false }, null, checkHost);
  await startWorker({ metrics: jobMetrics });
});
afterAll(() => told.close());

const ofService = async (): Promise<string> => (await running.fetch("/metrics")).body;
const ofWorker = async (): Promise<string> => (await fetch(told.url)).text();
const file = (path: string) => readFileSync(join(root, path), "utf8");
const families = (text: string) => [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name);

test("every metric is explained on the page of metrics, and every one on the page exists", async () => {
  const told = new Set([...families(await ofService()), ...families(await ofWorker())]);
  const explained = [...file("docs/reference/metrics.md").matchAll(/^\| `([a-z0-9_]+)/gm)].map(([, name = ""]) => name);
  expect([...told].filter((name) => !explained.includes(name))).toEqual([]);
  // Some metrics of the process exist only on Linux.
  expect(explained.filter((name) => name.startsWith("svc_") && !told.has(name))).toEqual([]);
});

test.for(["deploy/grafana/svc.json", "deploy/prometheus/alerts.yml"])(
  "%s asks for metrics that exist",
  async (path) => {
    const told = new Set([...families(await ofService()), ...families(await ofWorker())]);
    const asked = [...file(path).matchAll(/\b(?:svc|nodejs|process)_[a-z0-9_]+\b/g)].map(([name]) => name);
    expect(asked.length).toBeGreaterThan(10);
    const unknown = asked.filter((name) => !told.has(name) && !told.has(name.replace(/_(bucket|count|sum)$/, "")));
    expect(unknown).toEqual([]);
  },
);

test("the page explains each alert, and each counts calls of users only, where it counts calls", () => {
  const alerts = file("deploy/prometheus/alerts.yml");
  const named = (text: string) => [...text.matchAll(/(?:- alert: |(?<=^\|.*)`)(Svc\w+)/gm)].map(([, name]) => name);
  const explained = named(file("docs/how-to/observe.md"));
  expect(named(alerts).toSorted()).toEqual(explained.toSorted());
  const counted = [...alerts.matchAll(/svc_http_(?:request_duration|wait)_seconds_\w+(\{[^}]*\})?/g)].map(
    ([, labels]) => labels,
  );
  expect(counted).not.toEqual([]);
  for (const labels of counted) expect(labels).toContain('operation!~"/healthz|/readyz|/metrics"');
});

/** Names of labels by metric; those of a histogram's parts, too. */
function labelNames(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, metric = "", labels = ""] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const names = found.get(metric) ?? new Set(["job", "instance"]);
    for (const [, name = ""] of labels.matchAll(/(\w+)="/g)) names.add(name);
    found.set(metric, names);
  }
  return found;
}

test("alerts and the dashboard select by labels that the metrics have", async () => {
  const known = labelNames((await ofService()) + (await ofWorker()));
  const text = file("deploy/prometheus/alerts.yml") + file("deploy/grafana/svc.json").replaceAll('\\"', '"');
  const asked = [...text.matchAll(/\b((?:svc|nodejs|process)_\w+)\{([^}]*)\}/g)].flatMap(
    ([, metric = "", labels = ""]) =>
      [...labels.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, name = ""]) => ({ metric, name })),
  );
  expect(asked.length).toBeGreaterThan(10);
  // Metrics of standbys have series only where there are some.
  const unknown = asked.filter(({ metric, name }) => name !== "job" && known.get(metric)?.has(name) === false);
  expect(unknown).toEqual([]);
});

test.skipIf(noPromtool)(`Prometheus takes the metrics, and finds nothing to say of ours${noPromtool}`, async () => {
  for (const text of [await ofService(), await ofWorker()]) {
    // Exit code 1: the metrics are invalid; 3: it prefers other names, which prom-client has chosen.
    const { status, stderr } = promtool(["check", "metrics"], text);
    expect([0, 3]).toContain(status);
    expect(stderr.split("\n").filter((line) => !/^(nodejs|process)_\w+ /.test(line) && line !== "")).toEqual([]);
  }
  // Invalid metrics are refused.
  expect(promtool(["check", "metrics"], "svc_jobs{ 1\n").status).toBe(1);
});

test("the dashboard is one that Grafana takes: panels with places, ids and queries of their own", () => {
  const { panels, uid, schemaVersion } = JSON.parse(file("deploy/grafana/svc.json"));
  expect({ uid, schemaVersion }).toEqual({ uid: "svc-overview", schemaVersion: 39 });
  expect(new Set(panels.map(({ id }: { id: number }) => id)).size).toBe(panels.length);
  for (const { type, title, targets, gridPos } of panels) {
    expect(title).not.toBe("");
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    if (type !== "row") expect(targets.length).toBeGreaterThan(0);
  }
});

test("jobs and runs are counted where they wait and where they ran, by names that are known beforehand", async () => {
  expect((await running.mutate(null, "metrics.enqueue")).status).toBe(200);
  await expect.poll(ofWorker).toMatch(/svc_job_duration_seconds_count\{name="metrics.fine",outcome="done"\} 1/);
  await expect.poll(ofWorker).toMatch(/svc_job_duration_seconds_count\{name="metrics.fails",outcome="failed"\} [1-9]/);
  await expect.poll(ofWorker).toMatch(/^svc_jobs_running 0$/m);
  const state = async () =>
    Object.fromEntries(
      (await db.sql("select * from svc_private.service_state()")).map(({ metric, state, value }) => [
        `${metric} ${state}`,
        value,
      ]),
    );
  await expect.poll(state).toMatchObject({ "workflow_runs waiting": 1, "workflow_runs queued": 0 });
  await expect.poll(ofService).toMatch(/^svc_jobs\{state="scheduled"\} [1-9]/m); // asked again after a second
});

test("what is stored and spent is told in files, bytes and credits", async () => {
  await db.sql(`insert into svc.storage_objects (id, name, size, type, sha256)
    select gen_random_uuid(), 'x', 1000, 'text/plain', repeat('0', 64) from generate_series(1, 3)`);
  await db.sql(`insert into svc.ai_ledger (operation, model, state, reserved, charged, created_at, expires_at)
    values ('chat', 'm', 'settled', 5, 2.5, now(), now()), ('chat', 'm', 'reserved', 7, null, now(), now() + '1 hour'),
           ('chat', 'm', 'reserved', 9, null, now(), now() - interval '1 second'),
           ('chat', 'm', 'settled', 5, 100, now() - interval '2 days', now())`);
  const rows = await db.sql("select metric, state, value from svc_private.service_state()");
  const value = (metric: string, state = "") => rows.find((row) => row.metric === metric && row.state === state)?.value;
  expect([value("storage_objects"), value("storage_bytes")]).toEqual([3, 3000]);
  expect([value("ai_credits_today", "charged"), value("ai_credits_today", "reserved")]).toEqual([2.5, 7]);
});

// The answer took 20 s, or was empty with several processes: all alerts were silent while the database hung.
test("while the database does not answer, metrics come with its last numbers, and say so", async () => {
  await expect.poll(ofService).toMatch(/^svc_database_up 1$/m);
  const admin = await db.connect("admin");
  await admin.query("begin; lock table graphile_worker._private_jobs in access exclusive mode");
  await expect.poll(ofService).toMatch(/^svc_database_up 0$/m);
  expect(await ofService()).toMatch(/^svc_jobs\{state="scheduled"\} [1-9]/m);
  await admin.query("commit");
  await expect.poll(ofService).toMatch(/^svc_database_up 1$/m);
});

test("errors are counted by code, requests while they run", async () => {
  await running.query(null, "notes.list");
  await expect.poll(ofService).toMatch(/svc_http_errors_total\{code="UNAUTHORIZED"\} [1-9]/);
  await expect.poll(ofService).toMatch(/^svc_http_requests_in_flight 1$/m); // the one that asks
  expect(await ofService()).toMatch(/^svc_http_wait_seconds_count\{operation="notes.list"\} [1-9]/m);
  expect(await ofService()).toMatch(/^svc_http_errors_total\{code="OUTCOME_UNKNOWN"\} 0$/m);
  expect(await ofService()).toMatch(/svc_pool_size\{pool="request"\} 10/);
});

describe("who may read metrics", () => {
  const asks = (remoteAddress: string, headers: Record<string, string> = {}) =>
    ({ socket: { remoteAddress }, headers }) as never;
  const secret = "a token of metrics";
  const production: MetricsAccess = { token: null, open: false };
  const guarded: MetricsAccess = { token: secret, open: true };
  test.for([
    { who: "anybody in development", access: { token: null, open: true }, from: asks("203.0.113.9"), may: true },
    { who: "this machine in production", access: production, from: asks("::ffff:127.0.0.1"), may: true },
    { who: "another machine in production", access: production, from: asks("10.0.0.2"), may: false },
    {
      who: "another machine through a proxy on this one",
      access: production,
      from: asks("127.0.0.1", { "x-forwarded-for": "127.0.0.1" }),
      may: false,
    },
    {
      who: "another machine through a proxy that says only the scheme",
      access: production,
      from: asks("127.0.0.1", { host: "127.0.0.1:4000", "x-forwarded-proto": "https" }),
      may: false,
    },
    {
      who: "another machine through a proxy that keeps the public name",
      access: production,
      from: asks("127.0.0.1", { host: "app.example.com" }),
      may: false,
    },
    ...["localhost:4000", "127.0.0.1:4000", "[::1]:4000"].map((host) => ({
      who: `this machine in production, under ${host}`,
      access: production,
      from: asks("::1", { host }),
      may: true,
    })),
    {
      who: "who shows the token",
      access: guarded,
      from: asks("10.0.0.2", { authorization: `Bearer ${secret}` }),
      may: true,
    },
    { who: "who shows another", access: guarded, from: asks("127.0.0.1", { authorization: "Bearer x" }), may: false },
    { who: "who shows none, from this machine", access: guarded, from: asks("127.0.0.1"), may: false },
  ])("$who: $may", ({ access, from, may }) => {
    if (may) refuseReader(access, from);
    else expect(() => refuseReader(access, from)).toThrow("Metrics require a bearer token.");
  });

  test("of a worker are not told by a name that a stranger's page may have", async () => {
    const by = async (host: string) => (await rawRequest(told.url, { method: "GET", path: "/metrics", host })).status;
    expect([await by("localhost"), await by("evil.test")]).toEqual([200, 403]);
  });

  test("the endpoint asks", async () => {
    const { status } = await fetch(told.url, { headers: { "x-forwarded-for": "203.0.113.9" } });
    expect(status).toBe(401);
  });
});
