/**
 * Reads the text layer of a PDF with pdf.js: lines in drawing order, with the character maps that Chinese, Japanese and
 * Korean fonts need.
 * Next hop: `pdf.ts` makes Markdown of it; `../quality.ts` holds the other parser's result against it.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PDFDocumentProxy } from "pdfjs-dist";

export interface PdfLine {
  text: string;
  /** Position from the lower left, and height of its letters; in points. */
  x: number;
  y: number;
  height: number;
  /** Its parts, separated by wide gaps, as in tables. */
  parts: { text: string; x: number }[];
}

const root = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));

export async function openPdf(bytes: Buffer): Promise<PDFDocumentProxy> {
  const pdfjs = await import("pdfjs-dist/legacy/build/pdf.mjs");
  // The first parser may have left the worker of another pdf.js version here, and each version uses what it finds.
  const shared = globalThis as { pdfjsWorker?: unknown };
  const theirs = shared.pdfjsWorker;
  shared.pdfjsWorker = await import("pdfjs-dist/legacy/build/pdf.worker.mjs" as string);
  const document = await pdfjs
    .getDocument({
      data: new Uint8Array(bytes),
      cMapUrl: join(root, "cmaps/"),
      cMapPacked: true,
      standardFontDataUrl: join(root, "standard_fonts/"),
      wasmUrl: join(root, "wasm/"),
      iccUrl: join(root, "iccs/"),
      useSystemFonts: false,
      isOffscreenCanvasSupported: false,
      stopAtErrors: false,
      verbosity: 0,
    })
    .promise.finally(() => {
      shared.pdfjsWorker = theirs;
    });
  return document;
}

/** The lines of the pages from `first` to `last`. An unreadable page has none. */
export async function readPages(document: PDFDocumentProxy, first: number, last: number): Promise<PdfLine[][]> {
  const pages: PdfLine[][] = [];
  for (let number = first; number <= last; number++) {
    pages.push(await readPage(document, number).catch(() => []));
  }
  return pages;
}

async function readPage(document: PDFDocumentProxy, number: number): Promise<PdfLine[]> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  const lines: PdfLine[] = [];
  let line: PdfLine | null = null;
  let right = 0;
  for (const item of items) {
    if (!("str" in item)) continue;
    const [, , , , x = 0, y = 0] = item.transform as number[];
    const height = item.height || Math.hypot(item.transform[2], item.transform[3]) || 10;
    if (line && item.str !== "" && Math.abs(y - line.y) > Math.max(height, line.height) * 0.8) line = null;
    if (item.str !== "") {
      if (!line) {
        line = { text: "", x, y, height: 0, parts: [] };
        lines.push(line);
      }
      const isBlank = item.str.trim() === "";
      const gap = x - right;
      if (!isBlank && (line.parts.length === 0 || gap > height * 1.2)) {
        if (line.text !== "" && !line.text.endsWith(" ")) line.text += " ";
        line.parts.push({ text: item.str, x });
      } else {
        const part = line.parts.at(-1);
        if (part) part.text += item.str;
      }
      line.text += item.str;
      if (!isBlank) {
        line.height = Math.max(line.height, height);
        right = x + item.width;
      }
    }
    if (item.hasEOL) line = null;
  }
  return lines.filter((one) => one.text.trim() !== "");
}
