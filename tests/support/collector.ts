/** Receives spans: an HTTP server that takes OTLP in JSON, as a collector does, and stores everything. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Tracing } from "../../src/telemetry/span.ts";
import { openTracing } from "../../src/telemetry/tracing.ts";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Record<string, unknown>;
  status: { code?: number; message?: string };
  events: unknown[];
}

// biome-ignore lint/suspicious/noExplicitAny: untyped data from the wire
type Wire = any;

export class Collector {
  readonly spans: ReceivedSpan[] = [];
  /** All received text, to check that it contains no secrets. */
  text = "";
  readonly headers: Record<string, unknown>[] = [];
  readonly resources: Record<string, unknown>[] = [];
  readonly #server = createServer(async (request, response) => {
    this.headers.push({ ...request.headers, url: request.url });
    const body: Wire = await json(request);
    this.text += JSON.stringify(body);
    for (const { resource, scopeSpans } of body.resourceSpans) {
      this.resources.push(read(resource.attributes));
      for (const { spans } of scopeSpans) {
        for (const span of spans) this.spans.push({ events: [], ...span, attributes: read(span.attributes) });
      }
    }
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });

  async listen(): Promise<string> {
    await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Waits for a matching span, and for the others of its trace until `enough`. */
  async find(fits: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    for (;;) {
      const found = this.spans.find(fits);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  of(traceId: string): ReceivedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const read = (attributes: Wire[] = []): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** A collector, and tracing that sends to it at once. */
export async function collected(
  otel: Record<string, string> = {},
): Promise<{ collector: Collector; tracing: Tracing }> {
  const collector = new Collector();
  const tracing = await openTracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(),
    OTEL_BSP_SCHEDULE_DELAY: "20",
    ...otel,
  });
  if (!tracing) throw new Error("no tracing");
  return { collector, tracing };
}
