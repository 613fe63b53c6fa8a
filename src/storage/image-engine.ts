/**
 * Turns one image into another, with sharp. What comes in was uploaded by somebody: few formats, bounded pixels, bounded
 * time, and no metadata goes out.
 */
import sharp, { type Sharp } from "sharp";
import { type Format, type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** Pixels of all frames together, decoded and made: 40 megapixels. */
const maxPixels = 40_000_000;

/** In seconds. */
const maxTime = 10;

// Only what browsers show. SVG runs scripts and reads files, PDF and the rest have decoders that few people look at.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: ["Jpeg", "Png", "Webp", "Nsgif", "Heif"].flatMap((format) => [
    `VipsForeignLoad${format}Buffer`,
    `VipsForeignLoad${format}File`,
  ]),
});
// One thread per image: how many run at once is decided in transforms.ts, and a cache of ours outlives the process.
sharp.concurrency(1);
sharp.cache(false);

export interface Image {
  bytes: Buffer;
  /** Media type. */
  type: string;
}

/** Bytes, or the path of a file. */
type Source = Buffer | string;

/**
 * @param options what to make of it; without `f` it becomes WebP or keeps its own format
 * @throws UnreadableImage for what is broken, too large, or in a format that is not read
 */
export async function transformImage(source: Source, options: TransformOptions, webp: boolean): Promise<Image> {
  try {
    const known = await sizeOf(source);
    const format = options.f ?? (webp ? "webp" : outputOf(known.format));
    const frames = format === "webp" ? known.frames : 1;
    refuseLargeResult(known, frames, options);
    const input = sharp(source, {
      limitInputPixels: maxPixels,
      failOn: "truncated",
      pages: frames,
    });
    const { data } = await encode(resize(input.autoOrient(), options), format, options.q)
      .timeout({ seconds: maxTime })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, type: `image/${format}` };
  } catch (cause) {
    throw new UnreadableImage("This image cannot be read, or is too large.", { cause });
  }
}

interface Size {
  format: string;
  /** In pixels, the right way up. */
  width: number;
  height: number;
  frames: number;
}

/** All frames count, before any is decoded: a small file can hold many. */
async function sizeOf(source: Source): Promise<Size> {
  const { format = "png", pages = 1, autoOrient } = await sharp(source, { limitInputPixels: false }).metadata();
  const { width, height } = autoOrient;
  if (width * height * pages > maxPixels) throw new Error(`${width} by ${height} pixels, ${pages} frames`);
  return { format, width, height, frames: pages };
}

/** One side follows the other: a picture 1 by 200 that is to be 4,096 wide would become 819,200 high. */
function refuseLargeResult({ width, height }: Size, frames: number, { w, h, fit }: TransformOptions): void {
  const scale = Math.min((w ?? Number.POSITIVE_INFINITY) / width, (h ?? Number.POSITIVE_INFINITY) / height);
  const isWhole = w !== undefined && h !== undefined && fit !== "inside";
  const pixels = isWhole ? w * h : width * height * (Number.isFinite(scale) ? scale ** 2 : 1);
  if (pixels * frames > maxPixels) throw new Error(`${Math.round(pixels)} pixels to make, ${frames} frames`);
}

function outputOf(format: string): Format {
  if (format === "jpeg" || format === "webp") return format;
  return format === "heif" ? "avif" : "png";
}

function resize(image: Sharp, { w, h, fit = "cover" }: TransformOptions): Sharp {
  if (w === undefined && h === undefined) return image;
  const background = { r: 0, g: 0, b: 0, alpha: 0 };
  return image.resize({ ...(w && { width: w }), ...(h && { height: h }), fit, background });
}

function encode(image: Sharp, format: Format, quality: number | undefined): Sharp {
  const options = quality === undefined ? {} : { quality };
  switch (format) {
    case "jpeg":
      return image.flatten({ background: "#ffffff" }).jpeg({ ...options, mozjpeg: false });
    case "png":
      return image.png(quality === undefined ? {} : { palette: true, quality });
    case "avif":
      return image.avif({ ...options, effort: 2 });
    case "webp":
      return image.webp({ ...options, effort: 2 });
  }
}
