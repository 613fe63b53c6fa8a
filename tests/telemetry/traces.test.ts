// If this file fails, an operator cannot follow a call through the database, the queue and the sockets, or its trace
// contains private data.
import { randomBytes } from "node:crypto";
import { trace } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { collected, type ReceivedSpan } from "../support/collector.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { workers } from "../support/worker.ts";

const canary = "canary-7f3a";

const tidy = procedure.internal
  .name("traces.tidy")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context }) => {
    await context.db.select().from(notes);
  });
const fails = procedure.internal.name("traces.fails").handler(() => {
  throw new TypeError(`about ${canary}`);
});
const run = workflow("traces.run", {
  handler: (wf) =>
    wf
      .step("count", async () => (await wf.db.select().from(notes)).length)
      .then(() => wf.sleep(1))
      .then(() => wf.step("last", () => 1)),
});
const write = procedure.mutation
  .name("traces.write")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    trace.getTracer("the application").startActiveSpan("its own span", (span) => span.end());
    await context.db.insert(notes).values({ title: input.title, userId: user.id });
    await context.scheduler.runAfter(0, "traces.tidy", { title: input.title });
    context.log.info("written");
  });
const failing = procedure.mutation.name("traces.failing").handler(async ({ context }) => {
  await context.scheduler.runAfter(0, "traces.fails");
});
const start = procedure.mutation.name("traces.start").handler(({ context }) => context.workflows.start(run));
const breaks = procedure.mutation.name("traces.breaks").handler(async ({ context }) => {
  await context.db.insert(notes).values({ title: canary, userId: null as never });
});

const db = database();
const { collector, tracing } = await collected({
  OTEL_SERVICE_NAME: "desk",
  OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc",
  OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
});
afterAll(async () => {
  await tracing.close();
  collector.close();
});
const api = apiWith({ procedures: { tidy, fails, write, failing, start, breaks }, workflows: { run } });
const running = service(db, api, {}, tracing);
const startWorker = workers(db, api);

let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  await startWorker({ tracing });
});

/** Calls within a trace of the test. @returns the trace's id and the id of the test's span */
async function call(name: string, args: unknown, headers: Record<string, string> = {}) {
  const [traceId, spanId] = [randomBytes(16).toString("hex"), randomBytes(8).toString("hex")];
  const { status } = await running.fetch("/api/mutation", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...bearer(ann),
      traceparent: `00-${traceId}-${spanId}-01`,
      ...headers,
    },
    body: JSON.stringify({ name, args }),
  });
  return { traceId, spanId, status };
}

const inTrace = (traceId: string, name: string) =>
  collector.find((span) => span.traceId === traceId && span.name === name);

/** Names from a span up to the root of the trace. A parent ends, and is sent, after its children. */
async function way({ name, kind, traceId, parentSpanId }: ReceivedSpan): Promise<string[]> {
  if (kind === 2) return [name];
  const above = await collector.find((span) => span.traceId === traceId && span.spanId === parentSpanId);
  return [name, ...(await way(above))];
}

test("a request that writes, adds a job and is heard by a socket is one connected trace", async () => {
  const socket = await Socket.open(running, ann);
  await socket.subscribe("notes.list");
  const { traceId, spanId } = await call("traces.write", { title: canary });
  await socket.wait({ type: "invalidate", queries: ["notes.list"] });
  const delivered = await inTrace(traceId, "deliver subscribers");
  const processed = await inTrace(traceId, "process traces.tidy");
  const server = await inTrace(traceId, "POST traces.write");
  const selected = await inTrace(traceId, "SELECT notes");

  expect(server).toMatchObject({ kind: 2, parentSpanId: spanId });
  expect(server.attributes).toMatchObject({
    "http.request.method": "POST",
    "http.route": "/api/mutation",
    "http.response.status_code": 200,
    "svc.operation": "traces.write",
    "user.id": ann.id,
  });
  expect(await way(delivered)).toEqual(["deliver subscribers", "POST traces.write"]);
  expect(delivered.attributes["messaging.batch.message_count"]).toBe(1);
  expect(await way(selected)).toEqual(["SELECT notes", "process traces.tidy", "POST traces.write"]);
  expect(processed.kind).toBe(5);
  expect(await way(await inTrace(traceId, "SELECT svc.enqueue_job"))).toEqual([
    "SELECT svc.enqueue_job",
    "send traces.tidy",
    "POST traces.write",
  ]);
  expect(await way(await inTrace(traceId, "INSERT notes"))).toEqual(["INSERT notes", "POST traces.write"]);
  expect(await way(await inTrace(traceId, "its own span"))).toEqual(["its own span", "POST traces.write"]);
  socket.close();
});

test("a generated mutation is heard in its own trace, in one statement", async () => {
  const socket = await Socket.open(running, ann);
  await socket.subscribe("notes.list");
  const { traceId, status } = await call("notes.create", { title: "x" });
  expect(status).toBe(200);
  expect(await way(await inTrace(traceId, "deliver subscribers"))).toEqual([
    "deliver subscribers",
    "POST notes.create",
  ]);
  const statements = collector.of(traceId).filter(({ kind }) => kind === 3);
  expect(statements.map(({ name }) => name)).toEqual(["SELECT svc_crud.notes_create"]);
  socket.close();
});

test("a workflow's runs of the handler and its steps stay in the trace of the call that started it", async () => {
  const { traceId } = await call("traces.start", undefined);
  const last = await inTrace(traceId, "step last");
  // The end of the handler's first run enqueued the second.
  expect(await way(last)).toEqual(["step last", "process traces.run", "process traces.run", "POST traces.start"]);
  expect(await way(await inTrace(traceId, "step count"))).toEqual([
    "step count",
    "process traces.run",
    "POST traces.start",
  ]);
});

describe("what went wrong", () => {
  test("is named by its kind, where it happened", async () => {
    const { traceId, status } = await call("traces.breaks", undefined);
    expect(status).toBeGreaterThanOrEqual(400);
    const statement = await inTrace(traceId, "INSERT notes");
    expect(statement).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "42501" } });
    const failed = await call("traces.failing", undefined);
    const job = await inTrace(failed.traceId, "process traces.fails");
    expect(job).toMatchObject({ status: { code: 2 }, attributes: { "error.type": "TypeError" } });
  });

  test("takes no value of a row, a parameter, an error or the request's URL along", async () => {
    await running.fetch(`/api/auth/reset-password/${canary}?token=${canary}`, { headers: { cookie: canary } });
    await running.fetch(`/api/storage/${canary}?grant=${canary}`);
    await collector.find(({ name }) => name.startsWith("GET /api/storage"));
    const sent = await call("notes.create", { title: canary });
    await inTrace(sent.traceId, "POST notes.create");
    expect(collector.text).toContain("notes");
    expect(collector.text).not.toContain(canary);
    expect(collector.text).not.toContain(ann.token);
    expect(collector.text).not.toContain(ann.email);
  });
});

test("spans say which service they are of, and go where the variables say", async () => {
  await collector.find(() => true);
  expect(collector.resources[0]).toMatchObject({ "service.name": "desk", "deployment.environment.name": "test" });
  expect(collector.headers[0]).toMatchObject({ url: "/v1/traces", authorization: "Basic abc" });
});

test("a log line says of which trace it is", async () => {
  const { traceId } = await call("traces.write", { title: "x" });
  const lines = () => running.logged.map((line) => JSON.parse(line)).filter(({ trace_id }) => trace_id === traceId);
  await expect.poll(() => lines().map(({ msg }) => msg)).toEqual(expect.arrayContaining(["written", "done"]));
  expect(lines().find(({ msg }) => msg === "done").userId).toBe(ann.id);
});

test("a header that is no traceparent begins a trace of its own", async () => {
  const seen = collector.spans.length;
  for (const traceparent of ["00-0-0-01", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`, "x".repeat(1000)]) {
    const { status } = await call("notes.create", { title: "x" }, { traceparent });
    expect(status).toBe(200);
  }
  const roots = () =>
    collector.spans.slice(seen).filter(({ name, parentSpanId }) => name === "POST notes.create" && !parentSpanId);
  await expect.poll(() => new Set(roots().map(({ traceId }) => traceId)).size).toBe(3);
});

test("no SQL of a request can put its changes down to another trace", async () => {
  const client = await db.connect("request");
  await client.query("begin");
  await client.query("select set_config('role', 'svc_authenticated', true)");
  await expect(client.query(`select svc.carry_trace('00-${"1".repeat(32)}-${"2".repeat(16)}-01')`)).rejects.toThrow(
    "permission denied",
  );
  await client.query("rollback");
});
