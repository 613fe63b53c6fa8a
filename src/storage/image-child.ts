/**
 * The process that transforms images, one after the other, until its standard input ends. It has no network and no environment.
 * Its JavaScript may only read the program's own files; libvips, which is machine code, opens the file that it is told to.
 * Next hop: `image-engine.ts`; `image-children.ts` is the other end.
 */
import { readFrames, writeFrame } from "../kit/frames.ts";
import "../kit/no-network.ts";
import { type Source, transformImage } from "./image-engine.ts";
import { type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** Without a path, the source's bytes follow. */
export interface Order {
  path?: string;
  options: TransformOptions;
  webp: boolean;
}

/** With a type, the image's bytes follow. */
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
process.stdin.on("end", () => process.exit(0)); // the parent process has ended
