/**
 * Transforms of stored images: made once, kept beside the original's bytes, gone with it.
 * Next hop: `image-engine.ts` makes them.
 */
import { crc32 } from "node:zlib";
import { Gate } from "../service/gate.ts";
import type { ObjectFinder } from "./find-objects.ts";
import type { Image } from "./image-engine.ts";
import { type FoundObject, objectKey, type Storage, transformPrefix } from "./storage.ts";
import { type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** In bytes: larger files are not read into memory for their picture's sake. */
const maxSource = 64 * 1024 * 1024;

/** At once in a process; the rest of it has to go on answering. */
const maxRunning = 2;

/** Waiting behind these; whoever comes later is told to try again. */
const maxWaiting = 100;

/** In bytes, of transforms kept in memory. */
const memory = 64 * 1024 * 1024;

/** Of one object: there are billions of parameters, and anybody may ask for a public picture in any of them. */
const maxKept = 64;

/** Objects of which a process knows how many transforms are kept. */
const maxKnown = 10_000;

export interface Transforms {
  /**
   * @param webp whether it becomes WebP when no format is asked for
   * @returns null when the object's bytes are gone
   * @throws UnreadableImage, SvcError UNAVAILABLE when too many wait
   */
  get(object: FoundObject, options: TransformOptions, webp: boolean): Promise<Image | null>;
}

/** @param finder tells whether an object is still there */
export function createTransforms(storage: Pick<Storage, "driver" | "log">, finder: ObjectFinder): Transforms {
  const running = new Map<string, Promise<Image | null>>();
  const gate = new Gate(maxRunning, maxWaiting);
  const recent = new RecentImages(memory);
  const counts = new Map<string, number>();

  async function find(object: FoundObject, options: TransformOptions, webp: boolean, name: string) {
    const key = `${transformPrefix(object.bytesId)}${name}`;
    const kept = await storage.driver.readWhole(key);
    const whole = kept && unpack(kept);
    if (whole) return whole;
    if (object.size === 0) throw new UnreadableImage("This file is empty.");
    if (object.size > maxSource) throw new UnreadableImage("This file is too large for an image.");
    const image = await gate.run(() => make(object, options, webp));
    if (!image) return null;
    await keep(object.bytesId, key, image);
    // Deleted meanwhile? Whoever deletes removes the row first and its transforms then: one of the two sees the other.
    if (await finder.find(object.id, "system")) return image;
    await storage.driver.deleteAll(transformPrefix(object.bytesId));
    return null;
  }

  async function make(object: FoundObject, options: TransformOptions, webp: boolean): Promise<Image | null> {
    const key = objectKey(object.bytesId);
    // A path where there is one: megabytes that pass through JavaScript's memory cost as much again in collecting them.
    const source = storage.driver.pathOf?.(key) ?? (await storage.driver.readWhole(key));
    if (!source) return null;
    // Loaded with the first image: many processes never see one.
    const { transformImage } = await import("./image-engine.ts");
    try {
      return await transformImage(source, options, webp);
    } catch (error) {
      // Deleted before it was read, or while it was.
      if (await finder.find(object.id, "system")) throw error;
      return null;
    }
  }

  /** All transforms of an object go when there are too many: those that are in use are soon made again. */
  async function makeRoom(id: string): Promise<void> {
    let count = counts.get(id) ?? 0;
    if (!counts.has(id)) for await (const _ of storage.driver.list(transformPrefix(id))) if (++count >= maxKept) break;
    if (count >= maxKept) {
      await storage.driver.deleteAll(transformPrefix(id));
      count = 0;
    }
    counts.delete(id);
    counts.set(id, count + 1);
    const [oldest] = counts.keys();
    if (oldest !== undefined && counts.size > maxKnown) counts.delete(oldest);
  }

  /** What cannot be kept, on a full disk for example, is sent all the same and made again. */
  async function keep(id: string, key: string, image: Image): Promise<void> {
    try {
      await makeRoom(id);
      await storage.driver.put(key, pack(image), { durable: false });
    } catch (err) {
      storage.log.warn({ err, key }, "a transform could not be kept");
    }
  }

  return {
    async get(object, options, webp) {
      const name = nameOf(options, webp);
      const id = `${object.bytesId}/${name}`;
      const known = recent.get(id);
      if (known) return known;
      // Many ask at once, one makes it.
      let job = running.get(id);
      if (!job) {
        job = find(object, options, webp, name).finally(() => running.delete(id));
        running.set(id, job);
      }
      const image = await job;
      if (image) recent.set(id, image);
      return image;
    },
  };
}

/** The same for what comes out the same, whatever the order of the parameters. */
function nameOf({ w, h, f, q, fit }: TransformOptions, webp: boolean): string {
  return [w ?? "", h ?? "", f ?? (webp ? "webp" : "own"), q ?? "", fit ?? ""].join("-");
}

/** A kept transform is its media type and its bytes' checksum, a line break, and the bytes. */
const pack = ({ type, bytes }: Image) => Buffer.concat([Buffer.from(`${type} ${crc32(bytes)}\n`), bytes]);

/** @returns null for what a power cut left of one: they are not flushed, since they can be made again */
function unpack(kept: Buffer): Image | null {
  const end = kept.indexOf("\n");
  const [type = "", checksum] = kept.toString("latin1", 0, Math.max(0, end)).split(" ");
  const bytes = kept.subarray(end + 1);
  return String(crc32(bytes)) === checksum ? { type, bytes } : null;
}

/** The images that were asked for last, up to so many bytes. Whether they may be sent is asked of the row each time. */
class RecentImages {
  readonly #images = new Map<string, Image>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(id: string): Image | undefined {
    const image = this.#images.get(id);
    if (image) {
      this.#images.delete(id);
      this.#images.set(id, image); // a map keeps its order: the last is the youngest
    }
    return image;
  }

  set(id: string, image: Image): void {
    if (this.#images.has(id) || image.bytes.length > this.#maxBytes / 8) return;
    this.#images.set(id, image);
    this.#bytes += image.bytes.length;
    for (const [oldest, { bytes }] of this.#images) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#images.delete(oldest);
      this.#bytes -= bytes.length;
    }
  }
}
