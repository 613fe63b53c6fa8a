/**
 * Reads the text layer of a PDF: runs of text, each with its place on the page as it is shown.
 * Next hop: `pdf-signs.ts` reads the signs, `pdf-forms.ts` what was filled in; `pdf-rows.ts` makes rows of the runs.
 */
import { filledIn } from "./pdf-forms.ts";
import { type Run, readSigns, type Sign } from "./pdf-signs.ts";
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
    const found: PageText = { runs: [], turned: [] };
    if (page !== 0) {
      const shown = shownAs(pdf, page);
      found.runs.push(...filledIn(pdf, page, shown));
      for (const line of readSigns(pdf, page, shown)) addLine(line, found);
      pdfium.FPDF_ClosePage(page);
    }
    pages.push(found);
  }
  return pages;
}

/** From the upper left corner of what is shown of the page, turned as the page is. */
function shownAs(pdf: OpenPdf, page: number): Matrix {
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
    return turns[pdfium.FPDFPage_GetRotation(page)] as Matrix;
  });
}

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;
const mirrors = new Map([..."()[]{}<>«»‹›"].map((sign, at, all) => [sign, all[at ^ 1] as string]));

/** Signs beside each other make one run. Of text from right to left, each word does, and each number in it. */
function addLine(line: Sign[], { runs, turned }: PageText): void {
  const isBackward = line.some(({ text }) => rightToLeft.test(text));
  let last: Sign | undefined;
  line.forEach((sign, at) => {
    const run = runs.at(-1);
    if (sign.isTurned) {
      if (last?.isTurned) turned.push(`${turned.pop()}${sign.space ? " " : ""}${sign.text}`);
      else turned.push(sign.text);
    } else if (run && last && isContinued(last, sign) && !(isBackward && isNumber(sign) && !isNumber(last))) {
      run.text += sign.space ? ` ${sign.text}` : sign.text;
      run.x = Math.min(run.x, sign.x);
      run.right = Math.max(run.right, sign.right);
    } else {
      const { x, right, y, height, font, space } = sign;
      const text = isBackward ? unmirrored(sign, last, line[at + 1]) : sign.text;
      runs.push({ text, x, right, y, height, font, isSpaced: space === "drawn" });
    }
    last = sign;
  });
}

const isNumber = ({ text }: Sign) => /[\p{L}\p{N}]/u.test(text);

function isContinued(last: Sign, sign: Sign): boolean {
  const { height } = sign;
  if (last.isTurned || last.font !== sign.font || Math.abs(last.height - height) > 0.1) return false;
  if (Math.abs(last.y - sign.y) > 0.1 * height) return false;
  const isBackward = rightToLeft.test(sign.text);
  if (isBackward !== rightToLeft.test(last.text) || (isBackward && sign.space)) return false;
  const gap = isBackward ? last.x - sign.right : sign.x - last.right;
  const step = isBackward ? last.x - sign.x : sign.x - last.x;
  return step > -0.2 * height && gap < 0.8 * height;
}

/** PDFium mirrors brackets in text from right to left, of which files have the sign that is read. */
function unmirrored({ text, x }: Sign, last: Sign | undefined, next: Sign | undefined): string {
  const isBackward = next ? next.x < x : last !== undefined && last.x > x;
  return (isBackward && mirrors.get(text)) || text;
}
