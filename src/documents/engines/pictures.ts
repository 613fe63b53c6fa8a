/** Draws pages of a PDF as images for OCR. Next hop: `png.ts` writes them, `../ocr.ts` reads them. */
import { type OpenPdf, openPdf } from "./pdfium.ts";
import { grayPng } from "./png.ts";

/** Dots per inch; at least this much is what tesseract was trained on. */
const resolution = 200;
/** Larger pages are drawn at a lower resolution. */
const mostDots = 20_000_000;
/** In dots: tesseract reads no longer side than 32,767. */
const longestSide = 32_000;
/** In bytes of base64. After so many, the rest of the pages is left for the next process. */
const enough = 32 * 1024 * 1024;

/** Of fpdfview.h: four bytes a dot, of which the fourth is unused; with annotations. */
const format = { bgrx: 3 };
const white = 0xffffffff;
const annotations = 1;

/** @returns PNG as base64 for the first of the pages, at least for one; "" for pages that cannot be drawn */
export async function drawPages(bytes: Buffer, numbers: readonly number[]): Promise<string[]> {
  const pdf = await openPdf(bytes);
  const pictures: string[] = [];
  let size = 0;
  for (const number of numbers) {
    const picture = draw(pdf, number)?.toString("base64") ?? "";
    pictures.push(picture);
    size += picture.length;
    if (size > enough) break;
  }
  return pictures;
}

function draw({ pdfium, memory, document, form }: OpenPdf, number: number): Buffer | null {
  const page = pdfium.FPDF_LoadPage(document, number - 1);
  if (page === 0) return null;
  const [wide, high] = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)];
  const most = Math.min(Math.sqrt(mostDots / (wide * high)), longestSide / Math.max(wide, high));
  const scale = Math.min(resolution / 72, most);
  const [width, height] = [Math.ceil(wide * scale), Math.ceil(high * scale)];
  const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, format.bgrx, 0, 0);
  if (bitmap === 0) return null;
  pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
  pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, annotations);
  pdfium.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, annotations);
  const dots = pdfium.FPDFBitmap_GetBuffer(bitmap);
  const picture = grayPng(width, height, grayOf(memory.HEAPU8.subarray(dots, dots + 4 * width * height)));
  pdfium.FPDFBitmap_Destroy(bitmap);
  pdfium.FPDF_ClosePage(page);
  return picture;
}

/** The brightness of each dot, as ITU-R BT.601 weighs colours. */
function grayOf(dots: Uint8Array): Uint8Array {
  const gray = new Uint8Array(dots.length / 4);
  for (let at = 0; at < gray.length; at++) {
    const [blue = 0, green = 0, red = 0] = [dots[4 * at], dots[4 * at + 1], dots[4 * at + 2]];
    gray[at] = (77 * red + 150 * green + 29 * blue) >> 8;
  }
  return gray;
}
