/**
 * Reads the text layer of a PDF with pdf.js, with the character maps that Chinese, Japanese and Korean fonts need.
 * Next hop: `pdf-rows.ts` makes rows of the runs, by where they are.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PDFDocumentProxy, PDFPageProxy } from "pdfjs-dist";
import { SvcError } from "../../kit/svc-error.ts";

/** Text that is drawn at once. Positions are in points from the upper left, as the page is shown. */
export interface Run {
  text: string;
  x: number;
  right: number;
  /** The baseline. */
  y: number;
  /** Of its letters. */
  height: number;
  /** Its name within the document; fonts of other weights have other names. */
  font: string;
  /** Whether a space was drawn before it. */
  isSpaced: boolean;
}

export interface PageText {
  /** In drawing order. */
  runs: Run[];
  /** Text that does not run from left to right or back, such as stamps and labels of axes, in drawing order. */
  turned: string[];
}

/** Engines need seconds for so many. */
const mostPages = 20_000;

const root = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));

/** @throws SvcError PAYLOAD_TOO_LARGE for more pages than are converted here */
export async function openPdf(bytes: Buffer): Promise<PDFDocumentProxy> {
  const pdfjs = await import("pdfjs-dist/legacy/build/pdf.mjs");
  // The other parser may have left the worker of another pdf.js version here, and each version uses what it finds.
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
  if (document.numPages > mostPages) {
    await document.loadingTask.destroy();
    const many = `The document has ${document.numPages} pages. At most ${mostPages} are converted.`;
    throw new SvcError("PAYLOAD_TOO_LARGE", many, { hint: "Split the document." });
  }
  return document;
}

/** Fonts and pictures of so many pages are kept at a time. */
const pagesAtOnce = 100;

/** The text of the pages from `first` to `last`. An unreadable page has none. */
export async function readPages(document: PDFDocumentProxy, first: number, last: number): Promise<PageText[]> {
  const pages: PageText[] = [];
  for (let number = first; number <= last; number++) {
    pages.push(
      await document
        .getPage(number)
        .then(readPage)
        .catch(() => ({ runs: [], turned: [] })),
    );
    if (number % pagesAtOnce === 0) await document.cleanup();
  }
  return pages;
}

async function readPage(page: PDFPageProxy): Promise<PageText> {
  const { items } = await page.getTextContent();
  const shown = page.getViewport({ scale: 1 }).transform;
  const found: PageText = { runs: filledIn(await page.getAnnotations(), shown), turned: [] };
  page.cleanup();
  let isSpaced = false;
  let isTurned = false;
  for (const item of items) {
    if (!("str" in item) || item.str === "") continue;
    if (item.str.trim() === "") {
      isSpaced = true;
      continue;
    }
    const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = multiply(shown, item.transform);
    const height = Math.hypot(c, d) || 10;
    // Signs of a font that says nothing about them.
    const text = item.str.replaceAll("\0", "\ufffd");
    if (Math.abs(b) > Math.abs(a) * 0.2 || a < 0) {
      if (isTurned && !item.hasEOL) found.turned.push(`${found.turned.pop() ?? ""}${isSpaced ? " " : ""}${text}`);
      else found.turned.push(text);
      isTurned = !item.hasEOL;
    } else {
      found.runs.push({ text, x, right: x + item.width, y, height, font: item.fontName, isSpaced });
      isTurned = false;
    }
    isSpaced = false;
  }
  return found;
}

interface Annotation {
  subtype?: string;
  rect?: number[];
  /** Of a field of a form. */
  fieldType?: string;
  fieldValue?: unknown;
  hidden?: boolean;
  contentsObj?: { str?: string };
  defaultAppearanceData?: { fontSize?: number };
}

/** What was filled into fields of a form, and notes that are written onto the page. Neither is text of the page itself. */
function filledIn(annotations: Annotation[], shown: number[]): Run[] {
  return annotations.flatMap(({ subtype, rect, fieldType, fieldValue, hidden, contentsObj, defaultAppearanceData }) => {
    const isField = subtype === "Widget" && (fieldType === "Tx" || fieldType === "Ch");
    const value = isField ? [fieldValue].flat().join(", ") : subtype === "FreeText" ? (contentsObj?.str ?? "") : "";
    if (value.trim() === "" || hidden || !rect) return [];
    const [, , , , x = 0, top = 0] = multiply(shown, [1, 0, 0, 1, rect[0] ?? 0, rect[3] ?? 0]);
    const [, , , , right = 0, bottom = 0] = multiply(shown, [1, 0, 0, 1, rect[2] ?? 0, rect[1] ?? 0]);
    const lines = value.split(/\r\n?|\n/);
    const room = Math.abs(bottom - top) / lines.length;
    const height = defaultAppearanceData?.fontSize || Math.min(room, 10);
    return lines.map((text, at) => {
      const y = Math.min(top, bottom) + room * (at + 0.5) + 0.35 * height;
      return { text, x: Math.min(x, right), right: Math.max(x, right), y, height, font: "", isSpaced: true };
    });
  });
}

function multiply(one: number[], other: number[]): number[] {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = one;
  const [g = 1, h = 0, i = 0, j = 1, k = 0, l = 0] = other;
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}
