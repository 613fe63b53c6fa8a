/**
 * Spans as the rest of the code sees them: the one that is active, and children of it. Nothing here needs OpenTelemetry;
 * while tracing is off nobody starts a span, and asking for the active one costs a look into the async context.
 * Next hop: `tracing.ts` decides whether there are spans, `otel.ts` makes them.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Names and values by OpenTelemetry's semantic conventions; ours begin with `svc.`. Never a value of a row or a request. */
export type SpanAttributes = Record<string, string | number | boolean>;

export type Kind = "server" | "client" | "producer" | "consumer" | "internal";

/** A span under way. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it will be exported. */
  readonly sampled: boolean;
  /** As in the header of that name: for whatever goes on elsewhere because of this. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param type of the error, from a bounded set: a code or a class. Messages may quote what nobody should see */
  fail(type: string): void;
  child(name: string, kind: Kind, attributes?: SpanAttributes): Span;
  /** Runs `work` with this as the active span. */
  within<T>(work: () => T): T;
  end(): void;
}

/** Starts spans that have no active one above them. */
export interface Tracing {
  /** @param parent as in the header `traceparent`; what is not well-formed is none. (Default: a trace begins) */
  start(name: string, kind: Kind, attributes: SpanAttributes, parent?: string | null): Span;
  /** Sends what is still to be sent, for some seconds at most. */
  close(): Promise<void>;
}

/** For `otel.ts` alone, which sets it. */
export const spans = new AsyncLocalStorage<Span>();

/** The span that this code runs in; undefined while tracing is off. */
export const activeSpan = (): Span | undefined => spans.getStore();

/** Runs `work` in a child of the active span, if there is one. @param failure what an error is called in it */
export async function traced<T>(
  name: string,
  kind: Kind,
  attributes: SpanAttributes,
  work: (span: Span | undefined) => Promise<T>,
  failure: (error: unknown) => string = errorType,
): Promise<T> {
  const span = activeSpan()?.child(name, kind, attributes);
  if (!span) return work(undefined);
  try {
    return await span.within(() => work(span));
  } catch (error) {
    span.fail(failure(error));
    throw error;
  } finally {
    span.end();
  }
}

/** A code of ours, an SQLSTATE, or the error's class: never its message. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code, name } = error as Error & { code?: unknown };
  return typeof code === "string" && /^[A-Z0-9_]{1,50}$/.test(code) ? code : name;
}

/** What a log line says of the active span. */
export function traceFields(span: Span | undefined = activeSpan()): { trace_id?: string; span_id?: string } {
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

/** What `otel.ts` needs to know. */
export interface TracingSettings {
  serviceName: string;
  /** Of the resource. */
  attributes: Record<string, string>;
  /** Where spans are posted, as OTLP in JSON. */
  url: string;
  headers: Record<string, string>;
  /** In milliseconds. */
  timeoutMs: number;
  gzip: boolean;
  sampler: { kind: "on" | "off" | "ratio"; ratio: number; believesParent: boolean };
  batch: { delayMs: number; queue: number; size: number };
}
