// If this file fails, the wrong provider is called, in a wrong order, or above a cap. The table is the contract:
// provider × mode × paidFallback × cap × available providers, for a PDF with text.
import { describe, expect, test } from "vitest";
import { type DocumentKind, type DocumentProvider, providers } from "../../src/contract/documents.ts";
import { isHosted, route } from "../../src/documents/routing.ts";

const price = { custom_vlm: 1, hosted_ai_a: 5, hosted_ai_b: 20 };
const local: DocumentProvider[] = ["local_text", "parser_a", "parser_b", "ocr"];
const hosted: DocumentProvider[] = ["custom_vlm", "hosted_ai_a", "hosted_ai_b"];
const there = { all: [...providers], local, hosted, none: [] as DocumentProvider[] };

// a, b: the parsers. v, A, B: custom_vlm (1 credit), hosted_ai_a (5), hosted_ai_b (20).
// The last column: the error when all fail. PAY: DOCUMENT_PAID_FALLBACK_REQUIRED, CAP: DOCUMENT_COST_ABOVE_CAP, GONE:
// UNAVAILABLE.
const table = `
  provider     mode            paid  cap  there   steps       otherwise
  auto         -               no    100  all     a b         PAY
  auto         -               no    100  local   a b         PAY
  auto         -               no    100  hosted  -           PAY
  auto         -               no    100  none    -           PAY
  auto         -               no    0    all     a b         PAY
  auto         -               yes   100  all     a b v A B   PAY
  auto         -               yes   19   all     a b v A     PAY
  auto         -               yes   1    all     a b v       PAY
  auto         -               yes   0    all     a b         CAP
  auto         -               yes   100  local   a b         PAY
  auto         -               yes   0    local   a b         PAY
  auto         -               yes   100  hosted  v A B       PAY
  auto         -               yes   5    hosted  v A         PAY
  auto         -               yes   0    hosted  -           CAP
  auto         -               yes   100  none    -           PAY
  auto         force-external  no    100  all     -           PAY
  auto         force-external  no    100  hosted  -           PAY
  auto         force-external  no    0    all     -           PAY
  auto         force-external  yes   100  all     v A B       PAY
  auto         force-external  yes   4    all     v           PAY
  auto         force-external  yes   0    all     -           CAP
  auto         force-external  yes   100  local   -           PAY
  auto         force-external  yes   100  none    -           PAY
  auto         force-ocr       no    100  all     a b         PAY
  auto         force-ocr       yes   100  all     a b v A B   PAY
  auto         force-ocr       yes   0    all     a b         CAP
  auto         force-ocr       no    100  none    -           PAY
  parser_a     -               no    0    all     a           GONE
  parser_a     -               yes   100  all     a           GONE
  parser_a     force-external  yes   100  all     a           GONE
  parser_a     force-ocr       no    0    all     a           GONE
  parser_a     -               yes   100  hosted  -           GONE
  parser_b     -               no    0    all     b           GONE
  parser_b     force-external  no    0    local   b           GONE
  parser_b     -               no    0    none    -           GONE
  ocr          -               no    0    all     ocr         GONE
  ocr          force-ocr       no    0    local   ocr         GONE
  ocr          -               no    0    hosted  -           GONE
  custom_vlm   -               no    1    all     v           GONE
  custom_vlm   -               no    0    all     -           CAP
  custom_vlm   -               yes   100  local   -           GONE
  hosted_ai_a  -               no    5    hosted  A           GONE
  hosted_ai_a  force-external  yes   5    all     A           GONE
  hosted_ai_a  -               yes   4    all     -           CAP
  hosted_ai_b  -               no    20   all     B           GONE
  hosted_ai_b  force-ocr       yes   19   all     -           CAP
  hosted_ai_b  -               yes   100  none    -           GONE
`;

const short: Record<string, DocumentProvider> = {
  a: "parser_a",
  b: "parser_b",
  ocr: "ocr",
  v: "custom_vlm",
  A: "hosted_ai_a",
  B: "hosted_ai_b",
};
const code: Record<string, string> = {
  PAY: "DOCUMENT_PAID_FALLBACK_REQUIRED",
  CAP: "DOCUMENT_COST_ABOVE_CAP",
  GONE: "UNAVAILABLE",
};
const rows = table
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.trim().split(/ {2,}/));

function decide(
  provider: string,
  mode: string,
  paid: string,
  cap: number,
  from: DocumentProvider[],
  kind: DocumentKind,
) {
  return route({
    kind,
    scanned: "no",
    provider: provider as "auto",
    mode: mode === "-" ? undefined : (mode as "force-ocr"),
    paidFallback: paid === "yes",
    cap,
    estimate: (name) => price[name],
    isAvailable: (name) => from.includes(name),
  });
}

describe("a written PDF", () => {
  test.each(rows)("%s, mode %s, paidFallback %s, cap %s, there: %s → %s, else %s", (...row) => {
    const [provider = "", mode = "", paid = "", cap = "", from = "", steps = "", otherwise = ""] = row;
    expect(decide(provider, mode, paid, Number(cap), there[from as keyof typeof there], "pdf")).toEqual({
      steps: steps === "-" ? [] : steps.split(" ").map((letter) => short[letter]),
      otherwise: code[otherwise],
    });
  });

  test("the table has a row for each provider that could be named for it", () => {
    const named = new Set(rows.map(([provider]) => provider));
    expect([...named].sort()).toEqual(["auto", ...providers.filter((name) => name !== "local_text")].sort());
  });
});

test("of all combinations, none asks a provider that is not there, not allowed or too dear", () => {
  let seen = 0;
  for (const provider of ["auto", ...providers]) {
    for (const mode of ["-", "force-ocr", "force-external"]) {
      for (const paid of ["yes", "no"]) {
        for (const cap of [0, 1, 5, 20]) {
          for (const from of Object.values(there)) {
            for (const kind of ["pdf", "hwp", "docx", "csv"] as const) {
              const { steps, otherwise } = decide(provider, mode, paid, cap, from, kind);
              for (const step of steps) {
                expect(from).toContain(step);
                if (provider !== "auto") expect(step).toBe(provider);
                if (!isHosted(step)) continue;
                expect(paid === "yes" || step === provider).toBe(true);
                expect(price[step]).toBeLessThanOrEqual(cap);
              }
              // A provider by name never asks for payment, and only a missing permission does.
              if (provider !== "auto") expect(otherwise).not.toBe("DOCUMENT_PAID_FALLBACK_REQUIRED");
              else if (paid === "no") expect(otherwise).toBe("DOCUMENT_PAID_FALLBACK_REQUIRED");
              seen++;
            }
          }
        }
      }
    }
  }
  expect(seen).toBe(8 * 3 * 2 * 4 * 4 * 4);
});
