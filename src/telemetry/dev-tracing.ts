/**
 * Spans for `svc dev`, without OpenTelemetry: each is handed over when it ends, for Studio's panels Requests and Trace.
 * They stay on this machine, so statements have their texts.
 * Next hop: `observations.ts` keeps them.
 */
import { randomBytes } from "node:crypto";
import { type Kind, type Span, type SpanAttributes, spans, type Tracing } from "./span.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

export interface SpanRecord {
  traceId: string;
  spanId: string;
  /** null for the first one of a trace, and for one that another process has caused. */
  parentId: string | null;
  name: string;
  kind: Kind;
  /** In milliseconds since 1970, with fractions. */
  began: number;
  ms: number;
  attributes: SpanAttributes;
  /** The type of the error. */
  failed: string | null;
}

/** @param record is called with each span that has ended */
export const devTracing = (record: (span: SpanRecord) => void): Tracing => ({
  start(name, kind, attributes, parent) {
    const from = parseTraceparent(parent);
    const traceId = from?.traceId ?? randomBytes(16).toString("hex");
    return new DevSpan(record, { traceId, parentId: from?.spanId ?? null, name, kind, attributes });
  },
  async close() {},
});

class DevSpan implements Span {
  readonly sampled = true;
  readonly takesText = true;
  readonly #record: (span: SpanRecord) => void;
  readonly #span: SpanRecord;

  constructor(
    record: (span: SpanRecord) => void,
    given: Pick<SpanRecord, "traceId" | "parentId" | "name" | "kind" | "attributes">,
  ) {
    this.#record = record;
    const began = performance.timeOrigin + performance.now();
    this.#span = { ...given, spanId: randomBytes(8).toString("hex"), began, ms: 0, failed: null };
  }

  get traceId(): string {
    return this.#span.traceId;
  }

  get spanId(): string {
    return this.#span.spanId;
  }

  get traceparent(): string {
    return formatTraceparent(this);
  }

  set(attributes: SpanAttributes): void {
    this.#span.attributes = { ...this.#span.attributes, ...attributes };
  }

  rename(name: string): void {
    this.#span.name = name;
  }

  fail(type: string): void {
    this.#span.failed = type;
  }

  child(name: string, kind: Kind, attributes: SpanAttributes = {}): Span {
    return new DevSpan(this.#record, { traceId: this.traceId, parentId: this.spanId, name, kind, attributes });
  }

  within<T>(work: () => T): T {
    return spans.run(this, work);
  }

  end(): void {
    this.#span.ms = performance.timeOrigin + performance.now() - this.#span.began;
    this.#record(this.#span);
  }
}
