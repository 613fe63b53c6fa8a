/**
 * How a picture is encoded, by its format, its quality and the number of its pixels. Some encoders take a hundred times as
 * long as others for the same picture, and anybody may ask for any of them: beyond some sizes they have to hurry. Each row was
 * measured with noise, which is the hardest picture, to stay below five seconds of one processor.
 */
import type { Format } from "./transform-options.ts";

const million = 1_000_000;

/** Pixels of the largest picture that `w` and `h` can ask for. Only frames, and originals in their own size, have more. */
const largest = 4096 * 4096;

/** Pixels of an AVIF. Its encoder takes 20 bytes for each. */
export const maxAvifPixels = largest;

/** What sharp's method of the same name takes. */
export interface Encoding {
  format: Format;
  options: {
    quality?: number;
    effort?: number;
    palette?: boolean;
    chromaSubsampling?: "4:2:0";
  };
}

/**
 * @param quality 1 to 100; of large pictures it is lowered to 80 (AVIF) or 90 (WebP)
 * @param pixels  of all frames together, as they are made
 */
export function encodingOf(format: Format, quality: number | undefined, pixels: number): Encoding {
  const atMost = (most: number) => (quality === undefined ? {} : { quality: Math.min(quality, most) });
  switch (format) {
    case "jpeg":
      return { format, options: atMost(100) };
    case "webp":
      // Not a lower effort: what that makes of large noise is more than the format can hold.
      return { format, options: { ...atMost(pixels > largest ? 90 : 100), effort: 2 } };
    case "avif":
      // At quality 100 effort 2 takes a second for each million pixels; effort 0 at 80 takes a quarter of it. The largest with
      // all of its colours would take 650 MB, with half of them it takes 460.
      return pixels > million
        ? { format, options: { ...atMost(80), effort: 0, chromaSubsampling: "4:2:0" } }
        : { format, options: { ...atMost(100), effort: 2 } };
    case "png":
      // A quality means a palette of at most 256 colours. To choose them takes 4 s for each million pixels, in a hurry 0.4 s;
      // the largest keep all of their colours.
      if (quality === undefined || pixels > 4 * million) return { format, options: {} };
      return { format, options: { palette: true, quality, effort: pixels > million / 4 ? 1 : 7 } };
  }
}
