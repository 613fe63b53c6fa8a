// If this file fails, scanned pages are empty, or the text of other pages is replaced by guesses.
import { beforeAll, describe, expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { hasOcr } from "../../src/documents/ocr.ts";
import { drawnText } from "../support/drawn-text.ts";

if (!hasOcr()) console.warn("no tesseract: `apt-get install tesseract-ocr`. Scanned pages are not read.");

const words = "Invoice 4711 of March";

/** A PDF with pages of text, and pages with an image of text, as a scanner writes them. */
async function pdf(...pages: ("text" | "scan" | "upside down")[]): Promise<Buffer> {
  const picture = (await drawnText(words, 1200, 300).toColourspace("b-w").jpeg().toBuffer()).toString("latin1");
  const stream = (head: string, content: string) =>
    `<< ${head} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  const drawn = {
    scan: "480 0 0 120 20 300 cm /I Do",
    // Tesseract needs several lines to find out which side is up.
    "upside down": [100, 250, 400, 550, 700].map((y) => `q -480 0 0 -120 500 ${y} cm /I Do Q`).join(" "),
  };
  const resources = "/Resources << /Font << /F 3 0 R >> /XObject << /I 4 0 R >> >>";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${6 + 2 * at} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
    stream(
      "/Type /XObject /Subtype /Image /Width 1200 /Height 300 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode",
      picture,
    ),
    ...pages.flatMap((page, at) => [
      stream("", page !== "text" ? drawn[page] : `BT /F 12 Tf 60 600 Td (Letter ${at + 1} as text) Tj ET`),
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] ${resources} /Contents ${5 + 2 * at} 0 R >>`,
    ]),
  ];
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join("");
  return Buffer.from(`%PDF-1.4\n${body}trailer << /Root 1 0 R >>\n%%EOF\n`, "latin1");
}

describe.skipIf(!hasOcr())("force-ocr", () => {
  let scan: Buffer;
  beforeAll(async () => {
    scan = await pdf("scan");
  });

  test("reads the words in the picture of a page", async () => {
    const { markdown, providerTrace, warnings, creditsCharged } = await convertDocument(scan, { mode: "force-ocr" });
    expect(markdown).toBe(words);
    expect(providerTrace).toMatchObject([{ provider: "ocr", outcome: "used" }]);
    expect(warnings).toEqual(["The text of pages without their own was recognised from pictures."]);
    expect(creditsCharged).toBe(0);
  });

  test("leaves pages alone that have text, and keeps the order", async () => {
    const { pages, providerTrace } = await convertDocument(await pdf("text", "scan", "text"), { mode: "force-ocr" });
    expect(pages.map(({ markdown }) => markdown)).toEqual(["Letter 1 as text", words, "Letter 3 as text"]);
    expect(providerTrace).toMatchObject([{ provider: "ocr", outcome: "used" }]);
  });

  test("is not needed where a provider is named", async () => {
    const { pages } = await convertDocument(await pdf("text", "scan"), { provider: "ocr" });
    expect(pages.map(({ markdown }) => markdown)).toEqual(["Letter 1 as text", words]);
  });

  test("reads a page that lies upside down", async () => {
    const { markdown } = await convertDocument(await pdf("upside down"), { mode: "force-ocr" });
    expect(markdown).toContain(words);
  });

  test("without it, a scan has no text that a local provider finds", async () => {
    await expect(convertDocument(scan)).rejects.toMatchObject({ code: "DOCUMENT_PAID_FALLBACK_REQUIRED" });
  });
});
