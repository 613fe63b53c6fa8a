/**
 * Transforms of stored images: made once, stored beside the original's bytes, removed with it.
 * Next hop: `image-queue.ts` decides which image is made next, `image-children.ts` makes it and limits its
 * processor time and memory; `image-engine.ts` calls sharp.
 */
import { crc32 } from "node:zlib";
import { RecentMap } from "../kit/recent-map.ts";
import type { FoundObject, ObjectFinder } from "./find-objects.ts";
import { ImageChildren, ImageTooCostly } from "./image-children.ts";
import type { Image } from "./image-engine.ts";
import { type Asker, ImageQueue, isCostly } from "./image-queue.ts";
import { objectKey, type Storage, transformPrefix } from "./storage.ts";
import { type TransformOptions, UnreadableImage } from "./transform-options.ts";

/** In bytes: larger files are not read into memory for a transform. */
const maxSource = 64 * 1024 * 1024;

/** In bytes: transforms in the memory cache. */
const memory = 64 * 1024 * 1024;

/** In bytes, measured: what a transform takes there besides its own, with the answer that is kept with it. */
const perImage = 2_000;

/** Transforms stored for one object: there are billions of parameters, and anybody may request a public image in any. */
const maxKept = 64;

/** Bytes of transforms stored for one object: four times the original, but at least 16 MiB. */
const maxKeptBytes = (original: number) => Math.max(16 * 1024 * 1024, 4 * original);

/** Objects whose stored transforms a process counts. */
const maxKnown = 10_000;

/** In milliseconds: after a costly transform of an object was killed, its costly transforms are refused for this time. */
const refusedFor = 600_000;

export interface Transforms {
  /**
   * @param webp whether it becomes WebP when no format is asked for
   * @param asker the client's network and signal. (Default: one network for all, no signal)
   * @returns null when the object's bytes are gone
   * @throws UnreadableImage, SvcError UNAVAILABLE when too many wait; the signal's reason when the client left
   */
  get(object: FoundObject, options: TransformOptions, webp: boolean, asker?: () => Asker): Promise<Image | null>;
}

/** Shared by all services of a process, because they share its processors. */
const children = new ImageChildren();

interface Kept {
  count: number;
  bytes: number;
}

/**
 * @param finder tells whether an object still exists
 * @param engine makes a transform. (Default: in a process that can be killed)
 */
export function createTransforms(
  storage: Pick<Storage, "driver" | "log">,
  finder: ObjectFinder,
  engine: Pick<ImageChildren, "transform"> = children,
): Transforms {
  const queue = new ImageQueue<Image | null>();
  /** The images requested last. Each request still checks the row for permission. */
  const recent = new RecentMap<string, Image>(memory, (_id, { bytes }) => perImage + bytes.length);
  const known = new RecentMap<string, Kept>(maxKnown);
  /** By object id: when its costly transforms may be tried again. */
  const refused = new RecentMap<string, number>(maxKnown);

  async function find(object: FoundObject, options: TransformOptions, webp: boolean, name: string, asker: Asker) {
    const key = `${transformPrefix(object.bytesId)}${name}`;
    const kept = await storage.driver.readWhole(key);
    const whole = kept && unpack(kept);
    if (whole) return whole;
    if (object.size === 0) throw new UnreadableImage("This file is empty.");
    if (object.size > maxSource) throw new UnreadableImage("This file is too large for an image.");
    const costly = isCostly(object, options, webp);
    if (costly && (refused.get(object.id) ?? 0) > performance.now()) {
      throw new UnreadableImage(
        "This image took too much time or memory a moment ago. Ask for a smaller one, at most 1000 pixels.",
      );
    }
    const image = await queue.turn(asker, costly, () => make(object, options, webp));
    if (!image) return null;
    await keep(object, key, image);
    // Was it deleted meanwhile? A deletion removes the row first and then the transforms, so one side sees the other.
    if (await finder.find(object.id, "system")) return image;
    await storage.driver.deleteAll(transformPrefix(object.bytesId));
    return null;
  }

  async function make(object: FoundObject, options: TransformOptions, webp: boolean): Promise<Image | null> {
    const key = objectKey(object.bytesId);
    // A path if possible: collecting megabytes that pass through JavaScript's memory costs as much again.
    const source = storage.driver.pathOf?.(key) ?? (await storage.driver.readWhole(key));
    if (!source) return null;
    try {
      return await engine.transform(source, options, webp);
    } catch (error) {
      if (error instanceof ImageTooCostly) refused.set(object.id, performance.now() + refusedFor);
      // Was it deleted before or while it was read?
      if (await finder.find(object.id, "system")) throw error;
      return null;
    }
  }

  /** Removes all transforms of an object when there are too many or too large ones; those in use are soon made again. */
  async function makeRoom({ bytesId: id, size }: FoundObject, bytes: number): Promise<void> {
    let kept = known.get(id);
    if (!kept) {
      kept = { count: 0, bytes: 0 };
      for await (const stored of storage.driver.list(transformPrefix(id))) {
        kept.bytes += stored.size;
        if (++kept.count >= maxKept) break;
      }
    }
    if (kept.count >= maxKept || kept.bytes + bytes > maxKeptBytes(size)) {
      await storage.driver.deleteAll(transformPrefix(id));
      kept = { count: 0, bytes: 0 };
    }
    known.set(id, { count: kept.count + 1, bytes: kept.bytes + bytes });
  }

  /** If it cannot be stored, for example on a full disk, the transform is still sent, and made again next time. */
  async function keep(object: FoundObject, key: string, image: Image): Promise<void> {
    const packed = pack(image);
    if (packed.length > maxKeptBytes(object.size)) return; // it would displace all others
    try {
      await makeRoom(object, packed.length);
      await storage.driver.put(key, packed, { durable: false });
    } catch (err) {
      storage.log.warn({ err, key }, "a transformed image could not be cached");
    }
  }

  return {
    async get(object, options, webp, asker) {
      const name = nameOf(options, webp);
      const id = `${object.bytesId}/${name}`;
      const there = recent.renew(id);
      if (there) return there;
      // Concurrent requests for the same transform share one run.
      const image = await queue.shared(id, asker?.() ?? {}, (all) => find(object, options, webp, name, all));
      // A larger one would displace too many others.
      if (image && image.bytes.length <= memory / 8) recent.set(id, image);
      return image;
    },
  };
}

/** Requests with the same result get the same name, in any order of the parameters. */
function nameOf({ w, h, f, q, fit }: TransformOptions, webp: boolean): string {
  return [w ?? "", h ?? "", f ?? (webp ? "webp" : "own"), q ?? "", fit ?? ""].join("-");
}

/** A stored transform: its media type and its bytes' checksum, a line break, and the bytes. */
const pack = ({ type, bytes }: Image) => Buffer.concat([Buffer.from(`${type} ${crc32(bytes)}\n`), bytes]);

/** @returns null for one damaged by a power cut: they are not flushed, since they can be made again */
function unpack(kept: Buffer): Image | null {
  const end = kept.indexOf("\n");
  const [type = "", checksum] = kept.toString("latin1", 0, Math.max(0, end)).split(" ");
  const bytes = kept.subarray(end + 1);
  return String(crc32(bytes)) === checksum ? { type, bytes } : null;
}
