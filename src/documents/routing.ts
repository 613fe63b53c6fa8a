/**
 * Decides which providers are tried for a document, in which order, and which error follows when all fail. A pure
 * function of the conversion's options and the available providers.
 * Next hop: `convert.ts` takes the steps.
 */
import type { ConvertMode, DocumentKind, DocumentProvider } from "../contract/documents.ts";

/** Hosted providers that the configuration can define, in fallback order. */
const hostedProviders = ["custom_vlm", "hosted_ai_a", "hosted_ai_b"] as const satisfies DocumentProvider[];
export type HostedProvider = (typeof hostedProviders)[number];

/** The kinds that each local provider reads. */
const reads: Record<Exclude<DocumentProvider, HostedProvider>, DocumentKind[]> = {
  local_text: ["txt", "md", "html", "csv"],
  parser_a: ["pdf", "hwp", "hwpx", "hwpml", "docx", "xlsx"],
  parser_b: ["pdf", "docx", "xlsx"],
  ocr: ["pdf"],
};

export interface RouteInput {
  kind: DocumentKind;
  /** Whether the pages are images without a text layer. Only PDF has such pages. */
  scanned: "no" | "partly" | "wholly";
  provider: "auto" | DocumentProvider;
  mode: ConvertMode | undefined;
  paidFallback: boolean;
  /** The highest allowed cost, in credits. */
  cap: number;
  /** The expected cost of a provider, in credits. */
  estimate(provider: HostedProvider): number;
  /** Whether this machine or the configuration provides it. */
  isAvailable(provider: DocumentProvider): boolean;
}

export type Refusal = "DOCUMENT_PAID_FALLBACK_REQUIRED" | "DOCUMENT_COST_ABOVE_CAP" | "UNAVAILABLE" | "UNSUPPORTED";

/** Providers to try in this order, and the error when all fail. */
export interface Route {
  steps: DocumentProvider[];
  otherwise: Refusal;
}

export const isHosted = (provider: DocumentProvider): provider is HostedProvider =>
  hostedProviders.some((hosted) => hosted === provider);

const canRead = (provider: DocumentProvider, kind: DocumentKind) =>
  isHosted(provider) || reads[provider].includes(kind);

export function route(input: RouteInput): Route {
  return input.provider === "auto" ? automatic(input) : explicit(input.provider, input);
}

/** A provider by name needs no `paidFallback`, but the cap applies. */
function explicit(provider: DocumentProvider, input: RouteInput): Route {
  if (!canRead(provider, input.kind)) return { steps: [], otherwise: "UNSUPPORTED" };
  if (!input.isAvailable(provider)) return { steps: [], otherwise: "UNAVAILABLE" };
  if (isHosted(provider) && input.estimate(provider) > input.cap) {
    return { steps: [], otherwise: "DOCUMENT_COST_ABOVE_CAP" };
  }
  return { steps: [provider], otherwise: "UNAVAILABLE" };
}

function automatic(input: RouteInput): Route {
  const steps = localOrder(input).filter((name) => canRead(name, input.kind) && input.isAvailable(name));
  if (!input.paidFallback) return { steps, otherwise: "DOCUMENT_PAID_FALLBACK_REQUIRED" };
  const hosted = hostedProviders.filter((name) => input.isAvailable(name));
  const affordable = hosted.filter((name) => input.estimate(name) <= input.cap);
  const isCapped = hosted.length > 0 && affordable.length === 0;
  return {
    steps: [...steps, ...affordable],
    otherwise: isCapped ? "DOCUMENT_COST_ABOVE_CAP" : "DOCUMENT_PAID_FALLBACK_REQUIRED",
  };
}

function localOrder({ kind, mode, scanned }: RouteInput): DocumentProvider[] {
  if (mode === "force-external") return [];
  if (reads.local_text.includes(kind)) return ["local_text"];
  if (mode !== "force-ocr" || scanned === "no") return ["parser_a", "parser_b"];
  return scanned === "wholly" ? ["ocr"] : ["ocr", "parser_a", "parser_b"];
}
