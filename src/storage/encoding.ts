/**
 * Chooses encoder options by format, quality and number of pixels. Some encoders take a hundred times as long as
 * others for the same image, and anybody may ask for any of them, so large images use faster settings. Each limit was
 * measured with noise, the hardest image, to stay below five seconds of one processor.
 */
import type { Format } from "./transform-options.ts";

const million = 1_000_000;

/** Pixels of the largest image that `w` and `h` can ask for. Only animations and originals in their own size have more. */
const largest = 4096 * 4096;

/** Pixels of an AVIF. Its encoder takes 20 bytes for each pixel. */
export const maxAvifPixels = largest;

/** Arguments of sharp's method of the same name. */
export interface Encoding {
  format: Format;
  options: { quality?: number; effort?: number; palette?: boolean; chromaSubsampling?: "4:2:0" };
}

/**
 * @param quality 1 to 100; for large images lowered to 80 (AVIF) or 90 (WebP)
 * @param pixels  of all frames of the output together
 */
export function encodingOf(format: Format, quality: number | undefined, pixels: number): Encoding {
  const atMost = (most: number) => (quality === undefined ? {} : { quality: Math.min(quality, most) });
  switch (format) {
    case "jpeg":
      return { format, options: atMost(100) };
    case "webp":
      // Not a lower effort: its output for large noise would exceed the limits of the format.
      return { format, options: { ...atMost(pixels > largest ? 90 : 100), effort: 2 } };
    case "avif":
      // At quality 100, effort 2 takes a second for each million pixels; effort 0 at 80 takes a quarter of it. The
      // largest image takes 650 MB with full chroma, and 460 MB with chroma subsampling.
      return pixels > million
        ? { format, options: { ...atMost(80), effort: 0, chromaSubsampling: "4:2:0" } }
        : { format, options: { ...atMost(100), effort: 2 } };
    case "png":
      // A quality means a palette of at most 256 colours. Choosing them takes 4 s for each million pixels, at low
      // effort 0.4 s. The largest images keep all of their colours.
      if (quality === undefined || pixels > 4 * million) return { format, options: {} };
      return { format, options: { palette: true, quality, effort: pixels > million / 4 ? 1 : 7 } };
  }
}
