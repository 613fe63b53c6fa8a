/**
 * Reads the signs of a page, line by line, with their places.
 * Next hop: `pdf-text.ts` makes runs of them.
 */
import { floatsAt, type Matrix, moved, multiply, type OpenPdf, scratch } from "./pdfium.ts";

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
export function readSigns(pdf: OpenPdf, page: number, shown: Matrix): Sign[][] {
  const { pdfium } = pdf;
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return [];
  let line: Sign[] = [];
  const lines = [line];
  scratch(pdf, 24, (place) => {
    const count = pdfium.FPDFText_CountChars(text);
    const drawn = drawnBy(pdf, text, shown, place);
    let space: Sign["space"] = null;
    for (let at = 0; at < count; at++) {
      const sign = signAt(pdf, text, at);
      if (sign.trim() !== "") {
        const { height, font, isTurned } = drawn(at);
        const { x, y, right } = placeOf(pdf, text, at, shown, place);
        line.push({ text: sign, x, right, y, height, font, isTurned, space });
        space = null;
        continue;
      }
      if (space !== "drawn") space = pdfium.FPDFText_IsGenerated(text, at) === 1 ? "gap" : "drawn";
      if (sign === "\n") {
        line = [];
        lines.push(line);
      }
    }
  });
  pdfium.FPDFText_ClosePage(text);
  return lines;
}

function signAt({ pdfium }: OpenPdf, text: number, at: number): string {
  const code = pdfium.FPDFText_GetUnicode(text, at) >>> 0;
  if (code === hyphenOfLine) return "-";
  // Signs of a font that says nothing about them.
  const isUnknown = code === 0 || code > 0x10ffff || pdfium.FPDFText_HasUnicodeMapError(text, at) === 1;
  return isUnknown ? "\ufffd" : String.fromCodePoint(code);
}

function placeOf({ pdfium, memory }: OpenPdf, text: number, at: number, shown: Matrix, place: number) {
  pdfium.FPDFText_GetCharOrigin(text, at, place, place + 8);
  const origin = moved(shown, memory.HEAPF64[place / 8] as number, memory.HEAPF64[place / 8 + 1] as number);
  pdfium.FPDFText_GetLooseCharBox(text, at, place);
  const box = memory.HEAPF32;
  const first = place / 4;
  const one = moved(shown, box[first] as number, box[first + 1] as number);
  const other = moved(shown, box[first + 2] as number, box[first + 3] as number);
  return { x: origin.x, y: origin.y, right: Math.max(one.x, other.x) };
}

/** What the signs of a text object have in common; they follow each other. */
function drawnBy(pdf: OpenPdf, text: number, shown: Matrix, place: number) {
  const { pdfium } = pdf;
  const fonts = new Map<number, string>();
  let known = -1;
  let drawn: Pick<Sign, "height" | "font" | "isTurned">;
  return (at: number) => {
    const object = pdfium.FPDFText_GetTextObject(text, at);
    if (object === known) return drawn;
    known = object;
    pdfium.FPDFText_GetMatrix(text, at, place);
    const [a = 1, b = 0, c = 0, d = 1] = floatsAt(pdf, place, 4);
    const turned = multiply(shown, [a, b, c, d, 0, 0]);
    const font = pdfium.FPDFTextObj_GetFont(object);
    if (!fonts.has(font)) fonts.set(font, String(font));
    drawn = {
      height: Math.hypot(turned[2], turned[3]) * Math.abs(pdfium.FPDFText_GetFontSize(text, at)) || 10,
      font: fonts.get(font) as string,
      isTurned: Math.abs(turned[1]) > Math.abs(turned[0]) * 0.2 || turned[0] < 0,
    };
    return drawn;
  };
}
