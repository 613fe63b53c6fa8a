// If this file fails, traces cost something when they are off, are sent to a wrong address, contain values of
// statements, or are controlled by callers.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeStatement } from "../../src/telemetry/queries.ts";
import { formatTraceparent, parseTraceparent } from "../../src/telemetry/traceparent.ts";
import { readSettings } from "../../src/telemetry/tracing.ts";
import { collected } from "../support/collector.ts";
import { root } from "../support/global-setup.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

test("without an endpoint nothing of it is loaded", () => {
  const script = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    await import(${JSON.stringify(join(root, "src/service/service.ts"))});
    await import(${JSON.stringify(join(root, "workers/runner.ts"))});
    const { openTracing } = await import(${JSON.stringify(join(root, "src/telemetry/tracing.ts"))});
    const off = await openTracing({ OTEL_SERVICE_NAME: "x" });
    const sdk = () => loaded.filter((url) => /@opentelemetry\\/(sdk|exporter|otlp|resources|core)/.test(url)).length;
    const before = sdk();
    const on = await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" });
    console.log(JSON.stringify([off === undefined, before, sdk() > 0]));
    await on.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect([stdout.trim(), stderr]).toEqual(["[true,0,true]", ""]);
});

describe("variables", () => {
  test.for([
    [{}, null],
    [{ ...endpoint, OTEL_SDK_DISABLED: "true" }, null],
    [{ ...endpoint, OTEL_TRACES_EXPORTER: "none" }, null],
    [endpoint, { url: "http://collector:4318/v1/traces", sampler: { kind: "on", ratio: 1, believesParent: false } }],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://t/x" }, { url: "https://t/x" }],
    [
      { ...endpoint, OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b%20c" },
      { serviceName: "a", attributes: { team: "b c" } },
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=2", OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=3" },
      { headers: { a: "1", b: "3" } },
    ],
    [
      { ...endpoint, OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
      { sampler: { kind: "ratio", ratio: 0.25, believesParent: true } },
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: "soon", OTEL_BSP_SCHEDULE_DELAY: "9" },
      { timeoutMs: 10_000, batch: { delayMs: 9 } },
    ],
  ] as const)("%o", ([otel, wanted]) => {
    const read = readSettings(otel as Record<string, string>);
    if (wanted === null) expect(read).toBeNull();
    else expect(read).toMatchObject(wanted);
  });

  test.for([
    { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "zipkin" },
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
    { ...endpoint, OTEL_TRACES_SAMPLER: "sometimes" },
    { ...endpoint, OTEL_TRACES_SAMPLER_ARG: "2" },
  ])("that mean nothing are refused: %o", (otel) => {
    expect(() => readSettings(otel as Record<string, string>)).toThrow(/OTEL_\w+ is not usable/);
  });
});

test("a traceparent is read as the standard says, and written likewise", () => {
  const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  expect(parseTraceparent(`00-${trace}-${span}-01`)).toEqual({ traceId: trace, spanId: span, sampled: true });
  expect(parseTraceparent(`cc-${trace}-${span}-02-what the future brings`)).toEqual({
    traceId: trace,
    spanId: span,
    sampled: false,
  });
  for (const wrong of [
    `00-${trace}-${span}-01-more`,
    `ff-${trace}-${span}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${"0".repeat(32)}-${span}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace}-${span}`,
    `${trace}`,
    "",
    undefined,
    ["00"],
  ]) {
    expect(parseTraceparent(wrong)).toBeNull();
  }
  expect(formatTraceparent({ traceId: trace, spanId: span, sampled: false })).toBe(`00-${trace}-${span}-00`);
});

describe("a statement is named without what it may have been told", () => {
  test.for([
    ['select "id" from "notes" where "title" = $1', "SELECT notes"],
    ['insert into "public"."notes" ("id") values (default)', "INSERT public.notes"],
    ["update only notes set a = 1", "UPDATE notes"],
    ["delete from notes", "DELETE notes"],
    ["select svc_crud.notes_list($3)::text as result from (select 1)", "SELECT svc_crud.notes_list"],
    ["select * from svc_private.queue_state()", "SELECT svc_private.queue_state"],
    ["select svc.carry_trace($4), svc_private.end_run($1, $2)", "SELECT svc_private.end_run"],
    ["commit", "COMMIT"],
    ["select 'a letter from Canary' as x from notes", "SELECT notes"],
    ["select 'it''s from Canary' from notes", "SELECT notes"],
    [`select "it's", 'from Canary' from notes`, "SELECT notes"],
    ["select 1 -- from Canary\n from notes", "SELECT notes"],
    ["select /* from Canary */ 1 from notes", "SELECT notes"],
    ["select E'\\' from Canary ' from notes", "SELECT"],
    ["select $$ from Canary $$ from notes", "SELECT"],
    [`select '${"x".repeat(3000)} from Canary'`, "SELECT"],
    ["Canary123 is no statement", "SQL"],
  ] as const)("%s: %s", ([text, summary]) => expect(describeStatement(text).summary).toBe(summary));
});

test("a caller's sampled flag decides nothing, unless the sampler believes its parent", async () => {
  const of = (flags: string) => `00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`;
  const sampled = async (otel: Record<string, string>) => {
    const { collector, tracing } = await collected(otel);
    const spans = ["00", "01"].map((flags) => tracing.start("x", "server", {}, of(flags)));
    for (const span of spans) span.end();
    await tracing.close();
    collector.close();
    expect(collector.spans).toHaveLength(spans.filter((span) => span.sampled).length);
    return spans.map((span) => span.sampled);
  };
  expect(await sampled({})).toEqual([true, true]);
  expect(await sampled({ OTEL_TRACES_SAMPLER: "always_off" })).toEqual([false, false]);
  expect(await sampled({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" })).toEqual([false, false]);
  expect(await sampled({ OTEL_TRACES_SAMPLER: "parentbased_always_on" })).toEqual([false, true]);
});

test("a collector that is not there holds nobody up", async () => {
  const { collector, tracing } = await collected({ OTEL_BSP_MAX_QUEUE_SIZE: "4", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "2" });
  collector.close();
  for (let n = 0; n < 100; n++) tracing.start("x", "internal", {}).end();
  await tracing.close();
});
