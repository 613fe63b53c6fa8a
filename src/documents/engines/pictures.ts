/**
 * Draws pages of a PDF as images for OCR. Needs a process that may load addons, since the canvas is one.
 * Next hop: `../ocr.ts` reads them.
 */
import { openPdf } from "./pdf-text.ts";

/** Dots per inch; at least this much is what tesseract was trained on. */
const resolution = 200;
/** Larger pages are drawn at a lower resolution. */
const mostDots = 20_000_000;
/** In dots: tesseract reads no longer side than 32,767. */
const longestSide = 32_000;
/** Of 100. A scan as PNG is ten times as large, and takes as much longer to encode. */
const quality = 90;

interface Canvas {
  canvas: { encode(format: "jpeg", quality: number): Promise<Buffer> };
  context: CanvasRenderingContext2D;
}

/** @returns JPEG as base64 for each of the pages; "" for pages that cannot be drawn */
export async function drawPages(bytes: Buffer, numbers: readonly number[]): Promise<string[]> {
  const document = await openPdf(bytes);
  const pictures: string[] = [];
  try {
    for (const number of numbers) pictures.push(await draw(number).catch(() => ""));
  } finally {
    await document.loadingTask.destroy();
  }
  return pictures;

  async function draw(number: number): Promise<string> {
    const page = await document.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    const most = Math.min(Math.sqrt(mostDots / (width * height)), longestSide / Math.max(width, height));
    const scale = Math.min(resolution / 72, most);
    const viewport = page.getViewport({ scale });
    const factory = document.canvasFactory as { create(width: number, height: number): Canvas };
    const { canvas, context } = factory.create(Math.ceil(viewport.width), Math.ceil(viewport.height));
    await page.render({ canvas: null, canvasContext: context, viewport, background: "white" }).promise;
    page.cleanup();
    return (await canvas.encode("jpeg", quality)).toString("base64");
  }
}
