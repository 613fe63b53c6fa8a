/**
 * `GET /api/storage/:id`: the bytes of an object that is public, or for which the URL carries a read grant; of images,
 * transforms too. Whether it may be sent is decided in `sql/storage/find_storage_object.sql`.
 * Next hop: `transforms.ts` for images, `send-file.ts` for the answer.
 */
import { type Request, Router } from "express";
import type { EffectiveConfig } from "../define/config.ts";
import { SvcError } from "../errors/svc-error.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { Image } from "./image-engine.ts";
import { isStorageId } from "./names.ts";
import type { ReadGrant } from "./read-grants.ts";
import { type FileAnswer, sendFile } from "./send-file.ts";
import { objectKey, type Storage, type StorageObject } from "./storage.ts";
import { acceptsWebp, readable, readTransform, type TransformOptions, UnreadableImage } from "./transform-options.ts";
import { createTransforms, type Transforms } from "./transforms.ts";

/** In seconds. An id's bytes never change, but what was public may become private. */
const publicFor = 3600;

export function storageRoute(storage: Storage, plan: EffectiveConfig["plan"]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const transforms = createTransforms(storage);
  // Express answers HEAD by it as well.
  router.get("/api/storage/:id", async (request, response) => {
    exchangeOf(response).operation = "/api/storage/:id";
    const query = new URL(request.url, "http://localhost").searchParams;
    const options = readTransform(query);
    if (options && plan === "free") {
      throw new SvcError("PLAN_REQUIRED", "Image parameters are part of the Personal and Pro plans.", {
        hint: "Leave w, h, f, q and fit out, or set plan in svc.config.ts.",
      });
    }
    const id = request.params.id.toLowerCase();
    const grant = isStorageId(id) ? storage.grants.verify(id, query.get("grant") ?? undefined) : null;
    const object = isStorageId(id) ? await find(storage, id, grant !== null) : null;
    if (!object) throw absent();
    const image = await imageFor(transforms, object, options, request);
    const answer = image === undefined ? original(storage, object) : image && transformed(object, image, options);
    if (!answer) throw absent();
    if (readable.has(object.type)) response.vary("Accept");
    response.setHeader("cache-control", caching(object, grant));
    await sendFile(request, response, answer, grant?.disposition ?? "inline", storage.log);
  });
  return router;
}

interface Found extends StorageObject {
  sha256: string;
}

async function find({ pool }: Storage, id: string, hasGrant: boolean): Promise<Found | null> {
  const text = "select svc_private.find_storage_object($1, $2) as it";
  const { rows } = await pool.query({ name: "svc_find_storage_object", text }, [id, hasGrant]);
  return rows[0].it;
}

/** @returns undefined when the original is what is wanted, null when it is gone */
async function imageFor(
  transforms: Transforms,
  object: StorageObject,
  options: TransformOptions | null,
  request: Request,
): Promise<Image | null | undefined> {
  const webp = acceptsWebp(request.headers.accept) && object.type !== "image/webp" && object.type !== "image/avif";
  if (!options && !(webp && readable.has(object.type))) return undefined;
  try {
    if (!readable.has(object.type)) throw new UnreadableImage(`Images are made of ${[...readable].join(", ")}.`);
    return await transforms.get(object, options ?? {}, acceptsWebp(request.headers.accept));
  } catch (error) {
    if (!(error instanceof UnreadableImage)) throw error;
    if (!options) return undefined;
    throw new SvcError("BAD_REQUEST", "This file cannot be transformed.", { hint: error.message, cause: error });
  }
}

function original(storage: Storage, object: Found): FileAnswer {
  const { name, type, size, sha256 } = object;
  const etag = `"${sha256.slice(0, 32)}"`;
  return { name, type, size, etag, open: (range) => storage.driver.read(objectKey(object.id), range) };
}

function transformed(object: Found, { bytes, type }: Image, options: TransformOptions | null): FileAnswer {
  const made = Object.values({ ...options }).join("-");
  const etag = `"${object.sha256.slice(0, 32)}-${type.slice(6)}${made && `-${made}`}"`;
  return { name: renamed(object.name, type), type, size: bytes.length, etag, bytes };
}

/** photo.jpg, sent as WebP, is saved as photo.webp. */
const renamed = (name: string, type: string) => `${name.replace(/\.[^.]{1,8}$/, "")}.${type.slice(6)}`;

function caching({ visibility }: StorageObject, grant: ReadGrant | null): string {
  if (visibility === "public") return `public, max-age=${publicFor}, immutable`;
  const left = Math.max(0, Math.floor((grant?.expires ?? 0) - Date.now() / 1000));
  return `private, max-age=${left}`;
}

/** The same for what is private and for what does not exist. */
const absent = () => new SvcError("NOT_FOUND", "This file does not exist, or it is private.");
