/**
 * Parses the header `traceparent`, which names the trace of a request. Source:
 * https://www.w3.org/TR/trace-context/#traceparent-header
 */

export interface TraceParent {
  traceId: string;
  spanId: string;
  sampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** @returns null for an invalid header: then a new trace starts */
export function parseTraceparent(text: unknown): TraceParent | null {
  if (typeof text !== "string" || text.length > 200) return null;
  const [, version, traceId = "", spanId = "", flags = "", rest] = form.exec(text) ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  // The first version ends with its flags; of later versions we read the same fields.
  if (version === "00" && rest !== undefined) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const formatTraceparent = ({ traceId, spanId, sampled }: TraceParent): string =>
  `00-${traceId}-${spanId}-${sampled ? "01" : "00"}`;
