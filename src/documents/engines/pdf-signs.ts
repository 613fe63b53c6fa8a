/** Reads the signs of a page, line by line, with their places. Next hop: `pdf-text.ts` makes runs of them. */
import { floatsAt, type Matrix, moved, multiply, type OpenPdf, scratch } from "./pdfium.ts";

/** How a page is shown. */
export interface Shown {
  matrix: Matrix;
  /** What is shown of it, in coordinates of its content. */
  box: readonly [left: number, top: number, right: number, bottom: number];
}

/** One sign. */
export interface Sign extends Omit<Run, "isSpaced"> {
  /** Quarter turns to the right from text that runs from left to right or back; `slanted` for other angles. */
  turn: number;
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
  /** Identifies it within the document; fonts of other weights are others. */
  font: string;
  /** Whether a space was drawn before it. */
  isSpaced: boolean;
}

/** What PDFium puts for a hyphen at the end of a line. */
const hyphenOfLine = 2;
const unknown = "\ufffd";
const slanted = 4;

/** Lines in drawing order. Signs are in the order in which they are read, also from right to left. */
export function readSigns(pdf: OpenPdf, page: number, shown: Shown): Sign[][] {
  const { pdfium } = pdf;
  const text = pdfium.FPDFText_LoadPage(page);
  if (text === 0) return [];
  let line: Sign[] = [];
  const lines = [line];
  scratch(pdf, 24, (place) => {
    const count = pdfium.FPDFText_CountChars(text);
    const drawn = drawnBy(pdf, text, shown.matrix, place);
    let space: Sign["space"] = null;
    for (let at = 0; at < count; at++) {
      const sign = signAt(pdf, text, at);
      if (sign.trim() !== "") {
        const { height, font, turn, isVertical } = drawn(at);
        const found = placeOf(pdf, text, at, shown, place);
        if (!found) continue;
        const { left, y, right } = found;
        const x = isVertical ? left : found.x;
        line.push({ text: sign, x, right, y, height, font, turn, space });
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
  return lines.map(withAccents);
}

function signAt(pdf: OpenPdf, text: number, at: number): string {
  const { pdfium } = pdf;
  const code = pdfium.FPDFText_GetUnicode(text, at) >>> 0;
  if (code === hyphenOfLine && pdfium.FPDFText_IsHyphen(text, at) === 1) return "-";
  if (code === 0 || code > 0x10ffff) return unknown;
  if (pdfium.FPDFText_HasUnicodeMapError(text, at) !== 1) return String.fromCodePoint(code);
  // The font says nothing about the sign, whose code in the font this is.
  if (code === 0x09 || code === 0x0a || code === 0x0d) return " ";
  return code >= 0x20 && code < 0x7f && isDrawnFont(pdf, text, at) ? String.fromCharCode(code) : unknown;
}

/** A font of drawings (Type 3), as of TeX: it alone has no name. Its letters mostly have the codes of ASCII. */
function isDrawnFont({ pdfium }: OpenPdf, text: number, at: number): boolean {
  const font = pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(text, at));
  return pdfium.FPDFFont_GetBaseFontName(font, 0, 0) <= 1;
}

/** @returns null outside of what is shown of the page */
function placeOf({ pdfium, memory }: OpenPdf, text: number, at: number, { matrix, box }: Shown, place: number) {
  pdfium.FPDFText_GetCharOrigin(text, at, place, place + 8);
  const [x, y] = [memory.HEAPF64[place / 8] as number, memory.HEAPF64[place / 8 + 1] as number];
  if (x < box[0] || x > box[2] || y > box[1] || y < box[3]) return null;
  pdfium.FPDFText_GetLooseCharBox(text, at, place);
  const edges = memory.HEAPF32;
  const first = place / 4;
  const one = moved(matrix, edges[first] as number, edges[first + 1] as number);
  const other = moved(matrix, edges[first + 2] as number, edges[first + 3] as number);
  return { ...moved(matrix, x, y), left: Math.min(one.x, other.x), right: Math.max(one.x, other.x) };
}

/** What the signs of a text object have in common; they follow each other. */
function drawnBy(pdf: OpenPdf, text: number, shown: Matrix, place: number) {
  const { pdfium } = pdf;
  const fonts = new Map<number, string>();
  let known = -1;
  let drawn: Pick<Sign, "height" | "font" | "turn"> & { isVertical: boolean };
  return (at: number) => {
    const object = pdfium.FPDFText_GetTextObject(text, at);
    if (object === known) return drawn;
    known = object;
    pdfium.FPDFText_GetMatrix(text, at, place);
    const [a = 1, b = 0, c = 0, d = 1] = floatsAt(pdf, place, 4);
    const size = pdfium.FPDFText_GetFontSize(text, at);
    const em = multiply(shown, [a * size, b * size, c * size, d * size, 0, 0]);
    const font = pdfium.FPDFTextObj_GetFont(object);
    if (!fonts.has(font)) fonts.set(font, String(font));
    const quarters = Math.atan2(em[1], em[0]) / (Math.PI / 2);
    const isNext = pdfium.FPDFText_GetTextObject(text, at + 1) === object;
    const isVertical = isNext && runsDown(pdf, text, at, [c * size, d * size], place);
    const isSlanted = Math.abs(quarters - Math.round(quarters)) > 0.125;
    drawn = {
      height: Math.hypot(em[2], em[3]) || 10,
      font: fonts.get(font) as string,
      turn: isSlanted ? slanted : (Math.round(quarters) + (isVertical ? 1 : 0)) & 3,
      isVertical,
    };
    return drawn;
  };
}

/** Whether the next sign stands below this one, as in vertical Chinese. @param up from the foot to the head of a letter */
function runsDown({ pdfium, memory }: OpenPdf, text: number, at: number, up: [number, number], place: number): boolean {
  const along = (sign: number) => {
    pdfium.FPDFText_GetCharOrigin(text, sign, place, place + 8);
    return (memory.HEAPF64[place / 8] as number) * up[0] + (memory.HEAPF64[place / 8 + 1] as number) * up[1];
  };
  return along(at + 1) - along(at) < -0.3 * (up[0] ** 2 + up[1] ** 2);
}

/** Accents that are signs of their own, and those that join with a letter. */
const accents = new Map(
  Object.entries({
    "`": "\u0300",
    "´": "\u0301",
    ˆ: "\u0302",
    "˜": "\u0303",
    "¯": "\u0304",
    "˘": "\u0306",
    "˙": "\u0307",
    "¨": "\u0308",
    "˚": "\u030a",
    "˝": "\u030b",
    ˇ: "\u030c",
    "¸": "\u0327",
  }),
);
/** A letter is looked for among so many signs on both sides: where it was drawn apart, it is not the next one. */
const nearby = 200;

/** TeX draws some accents over letters. Both become one sign. */
function withAccents(line: Sign[]): Sign[] {
  return line.filter((accent, at) => {
    const mark = accents.get(accent.text);
    if (!mark) return true;
    const middle = (accent.x + accent.right) / 2;
    const isBelow = ({ text, x, right, y, height }: Sign) =>
      /^\p{L}$/u.test(text) && x < middle && middle < right && Math.abs(y - accent.y) < 0.5 * height;
    const letter = line.slice(Math.max(0, at - nearby), at + nearby).find(isBelow);
    if (!letter) return true;
    letter.text = `${letter.text.replace("ı", "i")}${mark}`.normalize("NFC");
    if (line[at + 1] === letter) letter.space ??= accent.space;
    return false;
  });
}
