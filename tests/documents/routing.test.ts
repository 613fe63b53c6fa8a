// If this file fails, a document is sent to a provider that its caller did not allow, or costs more than its cap.
import { describe, expect, test } from "vitest";
import { type DocumentKind, type DocumentProvider, providers } from "../../src/contract/documents.ts";
import { type RouteInput, route } from "../../src/documents/routing.ts";

const local: DocumentProvider[] = ["local_text", "parser_a", "parser_b", "ocr"];
const hosted: DocumentProvider[] = ["custom_vlm", "hosted_ai_a", "hosted_ai_b"];
const price = { custom_vlm: 1, hosted_ai_a: 5, hosted_ai_b: 20 };

function decide(input: Partial<RouteInput>, available: DocumentProvider[] = [...providers]) {
  return route({
    kind: "pdf",
    scanned: "no",
    provider: "auto",
    mode: undefined,
    paidFallback: false,
    cap: 100,
    estimate: (provider) => price[provider],
    isAvailable: (provider) => available.includes(provider),
    ...input,
  });
}

describe("auto", () => {
  const orders: [DocumentKind, DocumentProvider[]][] = [
    ["pdf", ["parser_a", "parser_b"]],
    ["docx", ["parser_a", "parser_b"]],
    ["xlsx", ["parser_a", "parser_b"]],
    ["hwp", ["parser_a"]],
    ["hwpx", ["parser_a"]],
    ["hwpml", ["parser_a"]],
    ["txt", ["local_text"]],
    ["md", ["local_text"]],
    ["html", ["local_text"]],
    ["csv", ["local_text"]],
  ];
  test.each(orders)("%s is asked of %j, and nobody who is paid", (kind, steps) => {
    expect(decide({ kind })).toEqual({ steps, otherwise: "DOCUMENT_PAID_FALLBACK_REQUIRED" });
  });

  test.each(orders)("%s goes to hosted providers after that, when paidFallback allows it", (kind, steps) => {
    expect(decide({ kind, paidFallback: true }).steps).toEqual([...steps, ...hosted]);
  });

  test("without a local provider, it is over at once", () => {
    expect(decide({}, hosted)).toEqual({ steps: [], otherwise: "DOCUMENT_PAID_FALLBACK_REQUIRED" });
  });

  test("without a hosted provider, paidFallback changes nothing", () => {
    expect(decide({ paidFallback: true }, local)).toEqual({
      steps: ["parser_a", "parser_b"],
      otherwise: "DOCUMENT_PAID_FALLBACK_REQUIRED",
    });
  });

  test.each([
    [0, [], "DOCUMENT_COST_ABOVE_CAP"],
    [0.99, [], "DOCUMENT_COST_ABOVE_CAP"],
    [1, ["custom_vlm"], "DOCUMENT_PAID_FALLBACK_REQUIRED"],
    [19, ["custom_vlm", "hosted_ai_a"], "DOCUMENT_PAID_FALLBACK_REQUIRED"],
    [20, hosted, "DOCUMENT_PAID_FALLBACK_REQUIRED"],
  ])("with a cap of %d credits, %j may be paid", (cap, paid, otherwise) => {
    expect(decide({ paidFallback: true, cap })).toEqual({ steps: ["parser_a", "parser_b", ...paid], otherwise });
  });
});

describe("modes", () => {
  test("force-ocr sends scanned pages to ocr, and nothing else", () => {
    expect(decide({ mode: "force-ocr", scanned: "wholly" }).steps).toEqual(["ocr"]);
    expect(decide({ mode: "force-ocr", scanned: "partly" }).steps).toEqual(["ocr", "parser_a", "parser_b"]);
    expect(decide({ mode: "force-ocr", scanned: "no" }).steps).toEqual(["parser_a", "parser_b"]);
    expect(decide({ mode: "force-ocr", kind: "docx" }).steps).toEqual(["parser_a", "parser_b"]);
    expect(decide({ mode: "force-ocr", kind: "csv" }).steps).toEqual(["local_text"]);
  });

  test("force-external asks hosted providers alone, and needs to be allowed to", () => {
    expect(decide({ mode: "force-external", paidFallback: true }).steps).toEqual(hosted);
    expect(decide({ mode: "force-external" })).toEqual({ steps: [], otherwise: "DOCUMENT_PAID_FALLBACK_REQUIRED" });
  });
});

describe("a provider by name", () => {
  const cases = providers.flatMap((provider) =>
    [true, false].flatMap((there) =>
      [true, false].map((paidFallback): [DocumentProvider, boolean, boolean] => [provider, there, paidFallback]),
    ),
  );
  test.each(cases)("%s, there: %s, paidFallback: %s", (provider, there, paidFallback) => {
    const kind = provider === "local_text" ? "txt" : "pdf";
    const decided = decide({ provider, kind, paidFallback }, there ? [provider] : []);
    expect(decided).toEqual({ steps: there ? [provider] : [], otherwise: "UNAVAILABLE" });
  });

  test.each(["custom_vlm", "hosted_ai_a", "hosted_ai_b"] as const)("%s is held to the cap", (provider) => {
    const cap = price[provider];
    expect(decide({ provider, cap }).steps).toEqual([provider]);
    expect(decide({ provider, cap: cap - 0.01 })).toEqual({ steps: [], otherwise: "DOCUMENT_COST_ABOVE_CAP" });
  });

  test.each([
    ["local_text", "pdf"],
    ["parser_a", "csv"],
    ["parser_b", "hwp"],
    ["ocr", "docx"],
  ] as const)("%s does not read %s", (provider, kind) => {
    expect(decide({ provider, kind })).toEqual({ steps: [], otherwise: "UNSUPPORTED" });
  });
});
