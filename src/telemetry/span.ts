/**
 * Spans for the rest of the code: the active span, and its children. Nothing here needs OpenTelemetry. While tracing is
 * off no span is started, and reading the active one costs an async-context lookup.
 * Next hop: `tracing.ts` decides whether there are spans, `otel.ts` creates them.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Names and values by OpenTelemetry's semantic conventions; our own begin with `svc.`. Never a value of a row or a request. */
export type SpanAttributes = Record<string, string | number | boolean>;

export type Kind = "server" | "client" | "producer" | "consumer" | "internal";

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether it will be exported. */
  readonly sampled: boolean;
  /** Whether it may have the texts of statements: it does not leave this machine. (Default: false) */
  readonly takesText?: boolean;
  /** As in the header of that name: for work elsewhere that this span causes. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** @param type of the error, from a bounded set: a code or a class. Not its message, which may contain private data */
  fail(type: string): void;
  child(name: string, kind: Kind, attributes?: SpanAttributes): Span;
  /** Runs `work` with this as the active span. */
  within<T>(work: () => T): T;
  end(): void;
}

/** Starts root spans. */
export interface Tracing {
  /** @param parent as in the header `traceparent`; an invalid one is ignored. (Default: starts a new trace) */
  start(name: string, kind: Kind, attributes: SpanAttributes, parent?: string | null): Span;
  /** Exports the remaining spans, for some seconds at most. */
  close(): Promise<void>;
}

/** Only `otel.ts` sets it. */
export const spans = new AsyncLocalStorage<Span>();

/** The span that this code runs in; undefined while tracing is off. */
export const activeSpan = (): Span | undefined => spans.getStore();

/** Runs `work` in a child of the active span, if there is one. @param failure maps an error to its type */
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

/** One of our codes, an SQLSTATE, or the error's class: never its message. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code, name } = error as Error & { code?: unknown };
  return typeof code === "string" && /^[A-Z0-9_]{1,50}$/.test(code) ? code : name;
}

/** The trace fields of a log line. */
export function traceFields(span: Span | undefined = activeSpan()): { trace_id?: string; span_id?: string } {
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

/** Settings of `otel.ts`. */
export interface TracingSettings {
  serviceName: string;
  /** Attributes of the resource. */
  attributes: Record<string, string>;
  /** The endpoint for OTLP in JSON. */
  url: string;
  headers: Record<string, string>;
  /** In milliseconds. */
  timeoutMs: number;
  gzip: boolean;
  sampler: { kind: "on" | "off" | "ratio"; ratio: number; believesParent: boolean };
  batch: { delayMs: number; queue: number; size: number };
}
