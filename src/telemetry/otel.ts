/**
 * OpenTelemetry spans, sent as OTLP over HTTP. `tracing.ts` imports this only if an endpoint is configured. In an application
 * that uses `@opentelemetry/api` itself, our span is the active one, and its own spans are exported the same way.
 */

import {
  type Context,
  type ContextManager,
  context,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { inTime } from "../kit/in-time.ts";
import { type Kind, type Span, type SpanAttributes, spans, type Tracing, type TracingSettings } from "./span.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

/** In milliseconds: time to send the last spans when the process stops. */
const closesWithin = 3_000;

const kinds: Record<Kind, SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export function startTracing(settings: TracingSettings): Tracing {
  const { url, headers, timeoutMs, gzip, batch } = settings;
  const exporter = new OTLPTraceExporter({
    url,
    headers,
    timeoutMillis: timeoutMs,
    ...(gzip && { compression: "gzip" as never }),
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({ "service.name": settings.serviceName, ...settings.attributes }),
    ),
    sampler: samplerOf(settings.sampler),
    // A full queue drops spans instead of blocking.
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        scheduledDelayMillis: batch.delayMs,
        maxQueueSize: batch.queue,
        maxExportBatchSize: Math.min(batch.size, batch.queue),
        exportTimeoutMillis: timeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer("svc");
  const release = offerToApplication(provider, tracer);
  return {
    start(name, kind, attributes, parent) {
      const from = parseTraceparent(parent);
      const above = from ? trace.setSpanContext(ROOT_CONTEXT, remote(from)) : ROOT_CONTEXT;
      return startSpan(tracer, name, kind, attributes, above);
    },
    async close() {
      release();
      await inTime(provider.shutdown(), closesWithin).catch(() => {});
    },
  };
}

const remote = ({ traceId, spanId, sampled }: { traceId: string; spanId: string; sampled: boolean }): SpanContext => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
});

function samplerOf({ kind, ratio, believesParent }: TracingSettings["sampler"]): Sampler {
  const own =
    kind === "on"
      ? new AlwaysOnSampler()
      : kind === "off"
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  // Sampled by trace id, so that all processes decide alike for the spans of a trace.
  return believesParent ? new ParentBasedSampler({ root: own }) : own;
}

function startSpan(tracer: Tracer, name: string, kind: Kind, attributes: SpanAttributes, above: Context): Span {
  const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, above);
  return new ActiveSpan(tracer, span, trace.setSpan(above, span));
}

class ActiveSpan implements Span {
  readonly #tracer: Tracer;
  readonly #span: OtelSpan;
  /** OpenTelemetry's context in which this span is active. */
  readonly context: Context;

  constructor(tracer: Tracer, span: OtelSpan, itsContext: Context) {
    this.#tracer = tracer;
    this.#span = span;
    this.context = itsContext;
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get spanId(): string {
    return this.#span.spanContext().spanId;
  }

  get sampled(): boolean {
    return (this.#span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
  }

  get traceparent(): string {
    return formatTraceparent(this);
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  fail(type: string): void {
    this.#span.setAttribute("error.type", type);
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  child(name: string, kind: Kind, attributes: SpanAttributes = {}): Span {
    return startSpan(this.#tracer, name, kind, attributes, this.context);
  }

  within<T>(work: () => T): T {
    return spans.run(this, work);
  }

  end(): void {
    this.#span.end();
  }
}

/** Makes our active span that of `@opentelemetry/api`. @returns a function that reverts this */
function offerToApplication(provider: TracerProvider, tracer: Tracer): () => void {
  const manager: ContextManager = {
    active: () => (spans.getStore() as ActiveSpan | undefined)?.context ?? ROOT_CONTEXT,
    with(above, work, self, ...values) {
      const span = trace.getSpan(above);
      const call = () => work.call(self as never, ...values);
      return span ? spans.run(new ActiveSpan(tracer, span, above), call) : call();
    },
    bind(above, target) {
      if (typeof target !== "function") return target;
      const bound = (...values: unknown[]) => manager.with(above, () => target(...values));
      return bound as typeof target;
    },
    enable: () => manager,
    disable: () => manager,
  };
  // False if the application has registered its own provider, which stays.
  const isOurs = trace.setGlobalTracerProvider(provider);
  if (isOurs) context.setGlobalContextManager(manager);
  return () => {
    if (!isOurs) return;
    trace.disable();
    context.disable();
  };
}
