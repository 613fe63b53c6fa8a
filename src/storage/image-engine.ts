/**
 * Transforms an image with sharp. The input is an untrusted upload: few formats, bounded pixels, and no metadata in
 * the output. A transform cannot be interrupted, so it runs in a process that can be killed (`image-child.ts`).
 * Next hop: `encoding.ts` for how much work an encoder may have.
 */
import sharp, { type Sharp } from "sharp";
import { type Encoding, encodingOf, maxAvifPixels } from "./encoding.ts";
import { type Format, type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** Pixels of all frames together, in the input and the output: 40 megapixels. */
const maxPixels = 40_000_000;

// Only formats that browsers show. SVG runs scripts and reads files; PDF and the rest have rarely reviewed decoders.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif"].flatMap((format) => [
    `VipsForeignLoad${format}Buffer`,
    `VipsForeignLoad${format}File`,
  ]),
});
// One thread per image: image-queue.ts limits how many run at once and has a cache that outlives the process.
sharp.concurrency(1);
sharp.cache(false);

export interface Image {
  bytes: Buffer;
  /** Media type. */
  type: string;
}

/** Bytes, or the path of a file. */
export type Source = Buffer | string;

/**
 * @param options without `f` the output is WebP or keeps the format of the input
 * @throws UnreadableImage for an image that is broken, too large or in an unsupported format
 */
export async function transformImage(source: Source, options: TransformOptions, webp: boolean): Promise<Image> {
  let known: Size | undefined;
  try {
    known = await sizeOf(source);
    const format = options.f ?? (webp ? "webp" : outputOf(known.format));
    const frames = format === "webp" ? known.frames : 1;
    const pixels = pixelsOf(known, frames, options);
    if (pixels > (format === "avif" ? maxAvifPixels : maxPixels)) throw new TooLarge(format, pixels);
    const input = sharp(source, { limitInputPixels: maxPixels, failOn: "truncated", pages: frames });
    const image = resize(input.autoOrient(), options, format);
    const { data } = await encode(image, encodingOf(format, options.q, pixels)).toBuffer({ resolveWithObject: true });
    return { bytes: data, type: `image/${format}` };
  } catch (cause) {
    if (cause instanceof TooLarge) throw new UnreadableImage(cause.message, { cause });
    // The libvips that comes with sharp has no decoder for HEVC; one that the machine has may have it.
    if (known?.compression === "hevc" && /not been built in|plugin/i.test(String(cause))) {
      throw new UnreadableImage("This server cannot decode HEIC. Store the image as JPEG, PNG, WebP or AVIF.", {
        cause,
      });
    }
    throw new UnreadableImage("This image cannot be read, or is too large.", { cause });
  }
}

interface Size {
  format: string;
  /** In pixels, after rotation by EXIF. */
  width: number;
  height: number;
  frames: number;
  /** Of HEIF: av1 is AVIF, hevc is HEIC. */
  compression: string | undefined;
}

/** Counts all frames before decoding: a small file can contain many. */
async function sizeOf(source: Source): Promise<Size> {
  const {
    format = "png",
    pages = 1,
    autoOrient,
    compression,
  } = await sharp(source, { limitInputPixels: false }).metadata();
  const { width, height } = autoOrient;
  if (width * height * pages > maxPixels) throw new Error(`${width} by ${height} pixels, ${pages} frames`);
  return { format, width, height, frames: pages, compression };
}

/** The output would be too large. Its message is for the client. */
class TooLarge extends Error {
  constructor(format: Format, pixels: number) {
    const most = format === "avif" ? "16.7 for AVIF, 40 with f=webp" : "40";
    super(`It would have ${(pixels / 1e6).toFixed(1)} megapixels; the limit is ${most}. Use a smaller w or h.`);
  }
}

/** Pixels of the output. One side follows the other: 1 by 200 at a width of 4,096 would become 819,200 high. */
function pixelsOf({ width, height }: Size, frames: number, { w, h, fit }: TransformOptions): number {
  const scale = Math.min((w ?? Number.POSITIVE_INFINITY) / width, (h ?? Number.POSITIVE_INFINITY) / height);
  const isWhole = w !== undefined && h !== undefined && fit !== "inside";
  return frames * (isWhole ? w * h : width * height * (Number.isFinite(scale) ? scale ** 2 : 1));
}

function outputOf(format: string): Format {
  if (format === "jpeg" || format === "webp") return format;
  return format === "heif" ? "avif" : "png";
}

function resize(image: Sharp, { w, h, fit = "cover" }: TransformOptions, format: Format): Sharp {
  if (w === undefined && h === undefined) return image;
  const background = format === "jpeg" ? white : { r: 0, g: 0, b: 0, alpha: 0 };
  return image.resize({ ...(w && { width: w }), ...(h && { height: h }), fit, background });
}

/** JPEG has no transparency. */
const white = "#ffffff";

function encode(image: Sharp, { format, options }: Encoding): Sharp {
  switch (format) {
    case "jpeg":
      return image.flatten({ background: white }).jpeg({ ...options, mozjpeg: false });
    case "png":
      return image.png(options);
    case "avif":
      return image.avif(options);
    case "webp":
      return image.webp(options);
  }
}
