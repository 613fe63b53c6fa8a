/**
 * Reads the text layer of a PDF: runs of text, each with its place on the page as it is shown.
 * Next hop: `pdf-signs.ts` reads the signs, `pdf-forms.ts` what was filled in; `pdf-rows.ts` makes rows of the runs.
 */
import { filledIn } from "./pdf-forms.ts";
import { rightToLeft } from "./pdf-rows.ts";
import { type Run, readSigns, type Shown, type Sign } from "./pdf-signs.ts";
import { floatsAt, type Matrix, type OpenPdf, scratch } from "./pdfium.ts";

export interface PageText {
  runs: Run[];
  /** Text that does not run from left to right or back, such as stamps and labels of axes. */
  turned: string[];
}

/** The text of the pages from `first` to `last`. An unreadable page has none. */
export function readPages(pdf: OpenPdf, first: number, last: number): PageText[] {
  const { pdfium, document } = pdf;
  const pages: PageText[] = [];
  for (let number = first; number <= last; number++) {
    const page = pdfium.FPDF_LoadPage(document, number - 1);
    pages.push(page === 0 ? { runs: [], turned: [] } : readPage(pdf, page));
    pdfium.FPDF_ClosePage(page);
  }
  return pages;
}

function readPage(pdf: OpenPdf, page: number): PageText {
  let shown = shownAs(pdf, page, 0);
  let lines = readSigns(pdf, page, shown);
  const turn = usualTurn(lines);
  if (turn > 0) {
    shown = shownAs(pdf, page, 4 - turn);
    lines = readSigns(pdf, page, shown);
  }
  const found: PageText = { runs: filledIn(pdf, page, shown.matrix), turned: [] };
  for (const line of lines) addLine(line, found);
  return found;
}

/** How most of the text is turned: a page may lie on its side, and vertical Japanese is read like one that does. */
function usualTurn(lines: Sign[][]): number {
  const counts = [0, 0, 0, 0];
  for (const line of lines) for (const { turn } of line) if (turn in counts) (counts[turn] as number)++;
  const all = lines.reduce((sum, line) => sum + line.length, 0);
  return Math.max(
    counts.findIndex((count) => count > all / 2),
    0,
  );
}

/** From the upper left corner of what is shown of the page, turned as the page is. @param more quarter turns */
function shownAs(pdf: OpenPdf, page: number, more: number): Shown {
  const { pdfium } = pdf;
  return scratch(pdf, 16, (place) => {
    pdfium.FPDF_GetPageBoundingBox(page, place);
    const [left = 0, top = 0, right = 0, bottom = 0] = floatsAt(pdf, place, 4);
    const turns: Matrix[] = [
      [1, 0, 0, -1, -left, top],
      [0, 1, 1, 0, -bottom, -left],
      [-1, 0, 0, 1, right, -bottom],
      [0, -1, -1, 0, top, right],
    ];
    const matrix = turns[(pdfium.FPDFPage_GetRotation(page) + more) & 3] as Matrix;
    return { matrix, box: [left, top, right, bottom] };
  });
}

const mirrors = new Map([..."()[]{}<>«»‹›"].map((sign, at, all) => [sign, all[at ^ 1] as string]));

/** Signs beside each other make one run. Of text from right to left, each word does, and each number in it. */
function addLine(line: Sign[], { runs, turned }: PageText): void {
  const isBackward = line.some(({ text }) => rightToLeft.test(text));
  let first = 0;
  line.forEach((sign, at) => {
    const next = line[at + 1];
    if (next && isContinued(sign, next, isBackward)) return;
    const signs = line.slice(first, at + 1);
    const text = signs.map((one, place) => (place > 0 && one.space ? ` ${one.text}` : one.text)).join("");
    if (sign.turn !== 0) turned.push(text);
    else runs.push(runOf(signs, isBackward ? unmirrored(text, signs, line[first - 1], next) : text));
    first = at + 1;
  });
}

function runOf(signs: Sign[], text: string): Run {
  const [{ x, y, height, font, space }] = signs as [Sign];
  const left = signs.reduce((least, sign) => Math.min(least, sign.x), x);
  const right = signs.reduce((most, sign) => Math.max(most, sign.right), Number.NEGATIVE_INFINITY);
  return { text, x: left, right, y, height, font, isSpaced: space === "drawn" };
}

const isNumber = ({ text }: Sign) => /[\p{L}\p{N}]/u.test(text);

function isContinued(last: Sign, sign: Sign, isLineBackward: boolean): boolean {
  if (last.turn !== 0 || sign.turn !== 0) return last.turn === sign.turn;
  const { height } = sign;
  if (last.font !== sign.font || Math.abs(last.height - height) > 0.1) return false;
  if (Math.abs(last.y - sign.y) > 0.1 * height) return false;
  if (isLineBackward && isNumber(sign) && !isNumber(last)) return false;
  const isBackward = rightToLeft.test(sign.text);
  if (isBackward !== rightToLeft.test(last.text) || (isBackward && sign.space)) return false;
  const gap = isBackward ? last.x - sign.right : sign.x - last.right;
  const step = isBackward ? last.x - sign.x : sign.x - last.x;
  return step > -0.2 * height && gap < 0.8 * height;
}

/** PDFium mirrors brackets in text from right to left, of which files have the sign that is read. */
function unmirrored(text: string, [sign]: Sign[], last: Sign | undefined, next: Sign | undefined): string {
  const x = sign?.x ?? 0;
  const isBackward = next ? next.x < x : last !== undefined && last.x > x;
  return (isBackward && mirrors.get(text)) || text;
}
