/**
 * Turns one image into another, with sharp. What comes in was uploaded by somebody: few formats, bounded pixels, bounded
 * time, and no metadata goes out.
 */
import sharp, { type Sharp } from "sharp";
import { type Format, type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** Decoded pixels of all frames together: 40 megapixels. */
const maxPixels = 40_000_000;

/** In seconds. */
const maxTime = 10;

// Only what browsers show. SVG runs scripts and reads files, PDF and the rest have decoders that few people look at.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({
  operation: [
    "VipsForeignLoadJpegBuffer",
    "VipsForeignLoadPngBuffer",
    "VipsForeignLoadWebpBuffer",
    "VipsForeignLoadNsgifBuffer",
    "VipsForeignLoadHeifBuffer",
  ],
});
// One thread per image: how many run at once is decided in transforms.ts, and a cache of ours outlives the process.
sharp.concurrency(1);
sharp.cache(false);

export interface Image {
  bytes: Buffer;
  /** Media type. */
  type: string;
}

/**
 * @param options what to make of it; without `f` it becomes WebP or keeps its own format
 * @throws UnreadableImage for what is broken, too large, or in a format that is not read
 */
export async function transformImage(source: Buffer, options: TransformOptions, webp: boolean): Promise<Image> {
  try {
    const frames = await framesOf(source);
    const input = sharp(source, {
      limitInputPixels: maxPixels,
      failOn: "truncated",
      pages: frames,
      sequentialRead: true,
    });
    const { format: own = "png" } = await input.metadata();
    const format = options.f ?? (webp ? "webp" : outputOf(own));
    const animated = frames > 1 && format === "webp";
    const image = animated ? input : sharp(source, { limitInputPixels: maxPixels, failOn: "truncated" });
    const { data } = await encode(resize(image.autoOrient(), options), format, options.q)
      .timeout({ seconds: maxTime })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, type: `image/${format}` };
  } catch (cause) {
    throw new UnreadableImage("This image cannot be read, or is too large.", { cause });
  }
}

/** All frames count, before any is decoded: a small file can hold many. */
async function framesOf(source: Buffer): Promise<number> {
  const { width = 0, height = 0, pages = 1 } = await sharp(source, { limitInputPixels: false }).metadata();
  if (width * height * pages > maxPixels) throw new Error(`${width} by ${height} pixels, ${pages} frames`);
  return pages;
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
