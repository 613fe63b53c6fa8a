/**
 * Draws pages of a PDF as images for OCR. Needs a process that may load addons, since the canvas is one.
 * Next hop: `../ocr.ts` reads them.
 */
import { openPdf } from "./pdf-text.ts";

/** Dots per inch; at least this much is what tesseract was trained on. */
const resolution = 200;
/** Larger pages are drawn at a lower resolution. */
const mostDots = 20_000_000;

interface Canvas {
  canvas: { encode(format: "png"): Promise<Buffer> };
  context: CanvasRenderingContext2D;
}

/** @returns PNG as base64 for each existing page from `first` to `last`; "" for pages that cannot be drawn */
export async function drawPages(bytes: Buffer, first: number, last: number): Promise<string[]> {
  const document = await openPdf(bytes);
  const pictures: string[] = [];
  try {
    for (let number = first; number <= Math.min(last, document.numPages); number++) {
      pictures.push(await draw(number).catch(() => ""));
    }
  } finally {
    await document.loadingTask.destroy();
  }
  return pictures;

  async function draw(number: number): Promise<string> {
    const page = await document.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    const scale = Math.min(resolution / 72, Math.sqrt(mostDots / (width * height)));
    const viewport = page.getViewport({ scale });
    const factory = document.canvasFactory as { create(width: number, height: number): Canvas };
    const { canvas, context } = factory.create(Math.ceil(viewport.width), Math.ceil(viewport.height));
    await page.render({ canvas: null, canvasContext: context, viewport, background: "white" }).promise;
    page.cleanup();
    return (await canvas.encode("png")).toString("base64");
  }
}
