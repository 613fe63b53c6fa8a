/**
 * The options of image transforms: the parameters of the storage route and the browser's Accept header.
 * Next hop: `transforms.ts`.
 */
import { quality } from "../kit/media-type.ts";
import { SvcError } from "../kit/svc-error.ts";

export const formats = ["webp", "avif", "jpeg", "png"] as const;
export const fits = ["cover", "contain", "fill", "inside"] as const;
export type Format = (typeof formats)[number];
type Fit = (typeof fits)[number];

/** As given; an absent option was not requested. */
export interface TransformOptions {
  /** In pixels. */
  w?: number;
  /** In pixels. */
  h?: number;
  f?: Format;
  /** 1 to 100. */
  q?: number;
  fit?: Fit;
}

/** Media types that the engine reads; HEIC only if libvips has its decoder. All others are an error. */
export const readable: ReadonlySet<string> = new Set([
  "image/jpeg",
  "image/png",
  "image/webp",
  "image/gif",
  "image/avif",
  "image/heic",
  "image/heif",
]);

/** Why an image cannot be transformed. The original can still be sent. */
export class UnreadableImage extends Error {
  override readonly name = "UnreadableImage";
}

const maxPixels = 4096;

/**
 * Reads the parameters out of a URL; those that are not about images are left alone.
 *
 * @returns null when there are none
 * @throws SvcError VALIDATION_FAILED, with every invalid parameter
 */
export function readTransform(query: URLSearchParams): TransformOptions | null {
  const issues: { path: string[]; message: string }[] = [];
  const given = (name: string): string | undefined => {
    const values = query.getAll(name);
    if (values.length > 1) issues.push({ path: [name], message: "is given more than once" });
    return values[0];
  };
  const whole = (name: string, max: number): number | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) issues.push({ path: [name], message: `must be a whole number from 1 to ${max}` });
    return value;
  };
  const oneOf = <T extends string>(name: string, allowed: readonly T[]): T | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    if (!allowed.includes(text as T)) issues.push({ path: [name], message: `must be one of ${allowed.join(", ")}` });
    return text as T;
  };
  const options = {
    w: whole("w", maxPixels),
    h: whole("h", maxPixels),
    f: oneOf("f", formats),
    q: whole("q", 100),
    fit: oneOf("fit", fits),
  };
  if (issues.length > 0) {
    const message = `These image parameters are wrong: ${issues.map(({ path, message }) => `${path} ${message}`).join("; ")}.`;
    throw new SvcError("VALIDATION_FAILED", message, { issues });
  }
  const asked = Object.entries(options).filter(([, value]) => value !== undefined);
  return asked.length > 0 ? (Object.fromEntries(asked) as TransformOptions) : null;
}

/** Whether an Accept header names WebP itself. Wildcards do not count: clients without WebP send them too. */
export const acceptsWebp = (accept: string | undefined): boolean => quality(accept, "image/webp") > 0;
