/**
 * What the service of `svc dev` did lately: spans and mails, in memory only. The oldest ones go first.
 * Next hop: `dev-tracing.ts` makes the spans; `src/cli/start.ts` sends them to this process.
 */
import { RecentMap } from "../kit/recent-map.ts";
import type { SpanRecord } from "./dev-tracing.ts";

export interface MailRecord {
  kind: string;
  email: string;
  /** With the token that it is sent for. */
  url: string;
  at: string;
}

/** A message of the service to `svc dev`. */
export type Observed = { span: SpanRecord } | { mail: MailRecord };

export interface RequestSummary {
  traceId: string;
  requestId: string;
  at: string;
  name: string;
  status: number | null;
  user: string | null;
  ms: number;
  statements: number;
  jobs: number;
  failed: string | null;
}

/** Traces, spans of one trace, characters of a statement, and mails, at most. */
const most = { traces: 500, spans: 500, text: 10_000, mails: 100 };

export class Observations {
  /** By trace id. */
  readonly #traces = new RecentMap<string, SpanRecord[]>(most.traces);
  readonly #mails: MailRecord[] = [];

  take(observed: Observed): void {
    if ("mail" in observed) {
      this.#mails.push(observed.mail);
      if (this.#mails.length > most.mails) this.#mails.shift();
      return;
    }
    const { span } = observed;
    const text = span.attributes[statement];
    if (typeof text === "string") span.attributes[statement] = text.slice(0, most.text);
    const trace = this.#traces.get(span.traceId) ?? [];
    if (trace.length < most.spans) trace.push(span);
    this.#traces.set(span.traceId, trace);
  }

  /** Newest first. */
  get mails(): MailRecord[] {
    return this.#mails.toReversed();
  }

  /** The requests whose answer has been sent, newest first. */
  requests(): RequestSummary[] {
    const traces = [...this.#traces.values()].flatMap((trace) =>
      trace.filter(({ kind }) => kind === "server").map((span) => summary(span, trace)),
    );
    return traces.sort((a, b) => b.at.localeCompare(a.at));
  }

  /** The spans of a trace in the order in which they began. @param id of the trace, or of a request */
  trace(id: string): SpanRecord[] {
    const trace =
      this.#traces.get(id) ??
      [...this.#traces.values()].find((spans) => spans.some(({ attributes }) => attributes["svc.request_id"] === id));
    return (trace ?? []).toSorted((a, b) => a.began - b.began);
  }
}

const statement = "db.query.text";

function summary({ traceId, name, began, ms, attributes, failed }: SpanRecord, trace: SpanRecord[]): RequestSummary {
  const status = attributes["http.response.status_code"];
  const user = attributes["user.id"];
  return {
    traceId,
    requestId: String(attributes["svc.request_id"] ?? ""),
    at: new Date(began).toISOString(),
    name,
    status: typeof status === "number" ? status : null,
    user: typeof user === "string" ? user : null,
    ms,
    statements: trace.filter((span) => "db.system.name" in span.attributes).length,
    jobs: trace.filter(({ kind }) => kind === "consumer").length,
    failed: failed ?? (typeof attributes["svc.error_code"] === "string" ? attributes["svc.error_code"] : null),
  };
}
