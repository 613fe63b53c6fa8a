/**
 * Reads the signs of a page, line by line, with their places.
 * Next hop: `pdf-text.ts` makes runs of them.
 */
import type { WrappedPdfiumModule } from "@embedpdf/pdfium";
import { doublesAt, floatsAt, type Matrix, moved, multiply, type OpenPdf, scratch } from "./pdfium.ts";

/** One sign, in points from the upper left of the page as it is shown. */
export interface Sign {
  text: string;
  x: number;
  right: number;
  /** The baseline. */
  y: number;
  height: number;
  /** Identifies its font in the document. */
  font: string;
  /** Does not run from left to right or back. */
  isTurned: boolean;
  /** Before it: one of the file, or only a gap. */
  space: "drawn" | "gap" | null;
}

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

/** What PDFium puts for a hyphen at the end of a line. */
const hyphenOfLine = 2;

/** Lines in drawing order. Signs are in the order in which they are read, also from right to left. */
export function readSigns({ pdfium }: OpenPdf, page: number, shown: Matrix): Sign[][] {
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return [];
  const lines: Sign[][] = [[]];
  scratch(pdfium, 24, (place) => {
    const count = pdfium.FPDFText_CountChars(text);
    const drawn = drawnBy(pdfium, text, shown, place);
    let space: Sign["space"] = null;
    for (let at = 0; at < count; at++) {
      const sign = signAt(pdfium, text, at);
      if (sign === "\n") lines.push([]);
      if (/\S/.test(sign)) {
        lines.at(-1)?.push({ text: sign, ...placeOf(pdfium, text, at, shown, place), ...drawn(at), space });
        space = null;
      } else if (space !== "drawn") {
        space = pdfium.FPDFText_IsGenerated(text, at) === 1 ? "gap" : "drawn";
      }
    }
  });
  pdfium.FPDFText_ClosePage(text);
  return lines;
}

function signAt(pdfium: WrappedPdfiumModule, text: number, at: number): string {
  const code = pdfium.FPDFText_GetUnicode(text, at);
  if (code === hyphenOfLine) return "-";
  // Signs of a font that says nothing about them.
  const isUnknown = code === 0 || code > 0x10ffff || pdfium.FPDFText_HasUnicodeMapError(text, at) === 1;
  return isUnknown ? "\ufffd" : String.fromCodePoint(code);
}

function placeOf(pdfium: WrappedPdfiumModule, text: number, at: number, shown: Matrix, place: number) {
  pdfium.FPDFText_GetCharOrigin(text, at, place, place + 8);
  const [x = 0, y = 0] = doublesAt(pdfium, place, 2);
  const origin = moved(shown, x, y);
  pdfium.FPDFText_GetLooseCharBox(text, at, place);
  const [left = 0, top = 0, right = 0, bottom = 0] = floatsAt(pdfium, place, 4);
  return { ...origin, right: Math.max(moved(shown, left, top).x, moved(shown, right, bottom).x) };
}

/** What the signs of a text object have in common; they follow each other. */
function drawnBy(pdfium: WrappedPdfiumModule, text: number, shown: Matrix, place: number) {
  let known = -1;
  let drawn: Pick<Sign, "height" | "font" | "isTurned">;
  return (at: number) => {
    const object = pdfium.FPDFText_GetTextObject(text, at);
    if (object === known) return drawn;
    known = object;
    pdfium.FPDFText_GetMatrix(text, at, place);
    const [a = 1, b = 0, c = 0, d = 1] = floatsAt(pdfium, place, 4);
    const turned = multiply(shown, [a, b, c, d, 0, 0]);
    drawn = {
      height: Math.hypot(turned[2], turned[3]) * Math.abs(pdfium.FPDFText_GetFontSize(text, at)) || 10,
      font: String(pdfium.FPDFTextObj_GetFont(object)),
      isTurned: Math.abs(turned[1]) > Math.abs(turned[0]) * 0.2 || turned[0] < 0,
    };
    return drawn;
  };
}
