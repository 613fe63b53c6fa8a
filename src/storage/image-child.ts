/**
 * The process in which pictures are made, one after the other, until its standard input ends. It has no network and no
 * environment. JavaScript in it may read the program's own files; libvips, which is machine code, opens the one file that it
 * is told to.
 * Next hop: `image-engine.ts`; `image-children.ts` is the other end.
 */
import "../kit/no-network.ts";
import { readFrames, writeFrame } from "./frames.ts";
import { type Source, transformImage } from "./image-engine.ts";
import { type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** The source's bytes follow where there is no path. */
export interface Order {
  path?: string;
  options: TransformOptions;
  webp: boolean;
}

/** The picture's bytes follow where there is a type. */
export interface Answer {
  type?: string;
  refusal?: string;
}

async function make({ path, options, webp }: Order, bytes: Buffer): Promise<void> {
  const source: Source = path ?? bytes;
  try {
    const image = await transformImage(source, options, webp);
    writeFrame(process.stdout, { type: image.type } satisfies Answer, image.bytes);
  } catch (error) {
    const refusal = error instanceof UnreadableImage ? error.message : "This image cannot be read.";
    writeFrame(process.stdout, { refusal } satisfies Answer);
  }
}

readFrames<Order>(process.stdin, (order, bytes) => void make(order, bytes));
process.stdin.on("end", () => process.exit(0)); // whoever it works for has ended
