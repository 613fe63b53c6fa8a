/**
 * `GET /api/storage/:id`: the bytes of a public object, or of one that the issuer of the URL's read grant may see;
 * also transforms of images. The policies decide, in `sql/storage/find_storage_objects.sql`.
 * Next hop: `public-objects.ts` and `find-objects.ts` for the decision, `transforms.ts` for images, `send-file.ts` for
 * the answer.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { EffectiveConfig } from "../config/config.ts";
import type { StorageObject } from "../contract/storage.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { diskFailure } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import { leftSignal } from "../http/left-signal.ts";
import { RecentMap } from "../kit/recent-map.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import type { FoundObject } from "./find-objects.ts";
import type { Image } from "./image-engine.ts";
import type { Asker } from "./image-queue.ts";
import type { ReadGrant } from "./read-grants.ts";
import { type FileAnswer, fileNotFound, headersOf, sendFile } from "./send-file.ts";
import { objectKey, type Storage } from "./storage.ts";
import { acceptsWebp, readable, readTransform, type TransformOptions, UnreadableImage } from "./transform-options.ts";
import { createTransforms, type Transforms } from "./transforms.ts";

/** In seconds. The bytes of an id never change, but an object may become private, or an issuer lose access. */
const longest = 3600;

const prefix = "/api/storage/";

/** Whether a path, without its query, is that of a stored file. Ids contain no characters that URLs encode. */
export const isFilePath = (path: string) => path.startsWith(prefix) && path.indexOf("/", prefix.length) < 0;

/**
 * Answers GET and HEAD of such a path.
 *
 * @param networkOf the network of a request: networks take turns at transforms
 */
export function fileEndpoint(
  storage: Storage,
  plan: EffectiveConfig["plan"],
  networkOf: (request: IncomingMessage) => string,
): Endpoint {
  const { finder, publicObjects } = storage;
  const transforms = createTransforms(storage, finder);
  const queries = new Queries();
  const answers = new PublicAnswers();
  return async (request, response) => {
    exchangeOf(response).operation = "/api/storage/:id";
    const [path = "", search = ""] = (request.url ?? "").split("?", 2);
    const id = path.slice(prefix.length).toLowerCase();
    if (!isUuid(id)) throw fileNotFound();
    const { options, given } = queries.read(search);
    if (options && plan === "free") {
      throw new SvcError("PLAN_REQUIRED", "Image parameters are part of the Personal and Pro plans.", {
        hint: "Leave w, h, f, q and fit out, or set plan in svc.config.ts.",
      });
    }
    const grant = given === null ? null : storage.grants.verify(id, given);
    const found = grant ? finder.find(id, grant.issuer) : publicObjects.find(id);
    const object = found instanceof Promise ? await found : found;
    if (!object) throw fileNotFound();
    const asker = askerOf(request, response, networkOf);
    const webp = acceptsWebp(request.headers.accept);
    let image: Image | null | undefined;
    try {
      image = await imageFor(transforms, object, options, webp, asker.ask);
    } catch (error) {
      if (asker.hasLeft()) return;
      throw diskFailure(error);
    }
    if (image === null) throw fileNotFound();
    const make = (): FileAnswer => {
      const content = image ? transformed(object, image, options) : original(storage, object);
      const headers = { "cache-control": caching(object, grant), ...(readable.has(object.type) && varying) };
      return { ...content, headers, disposition: grant?.disposition ?? "inline" };
    };
    const answer = image && !grant ? answers.get(object, image, make) : make();
    await sendFile(request, response, answer, storage.log);
  };
}

/** Queries that were read last: a page asks for the same few sizes of its images. */
class Queries {
  readonly #read = new RecentMap<string, Query>(1_000);

  /** A kept query keeps the URL that it is a part of. @throws SvcError VALIDATION_FAILED, with every invalid parameter */
  read(search: string): Query {
    const known = this.#read.get(search);
    if (known) return known;
    const parameters = new URLSearchParams(search);
    const query = { options: readTransform(parameters), given: parameters.get("grant") };
    if (query.given === null && search.length <= 100) this.#read.set(search, query);
    return query;
  }
}

interface Query {
  options: TransformOptions | null;
  /** The read grant, unverified; null without one. */
  given: string | null;
}

/** Answers with images of public objects, with their headers. They last as long as image and object are kept. */
class PublicAnswers {
  readonly #made = new WeakMap<Image, { object: FoundObject; answer: FileAnswer }>();

  get(object: FoundObject, image: Image, make: () => FileAnswer): FileAnswer {
    const known = this.#made.get(image);
    if (known?.object === object) return known.answer;
    const answer = make();
    answer.made = headersOf(answer);
    if (object.visibility === "public") this.#made.set(image, { object, answer });
    return answer;
  }
}

/** The network and the abort signal of a request; only computed when an image has to be made. */
function askerOf(request: IncomingMessage, response: ServerResponse, networkOf: (request: IncomingMessage) => string) {
  let signal: AbortSignal | undefined;
  return {
    ask(): Asker {
      signal ??= leftSignal(response);
      return { network: networkOf(request), signal };
    },
    hasLeft: () => signal?.aborted === true,
  };
}

/** For images, the browser's Accept header decides the format. */
const varying = { vary: "Origin, Accept" };

/** @returns undefined to send the original, null when the bytes are gone */
async function imageFor(
  transforms: Transforms,
  object: FoundObject,
  options: TransformOptions | null,
  webp: boolean,
  asker: () => Asker,
): Promise<Image | null | undefined> {
  const isNegotiated =
    webp && readable.has(object.type) && object.type !== "image/webp" && object.type !== "image/avif";
  if (!options && !isNegotiated) return undefined;
  try {
    if (!readable.has(object.type)) throw new UnreadableImage(`Images can be made from ${[...readable].join(", ")}.`);
    return await transforms.get(object, options ?? {}, webp, asker);
  } catch (error) {
    if (!(error instanceof UnreadableImage)) throw error;
    if (!options) return undefined;
    throw new SvcError("BAD_REQUEST", "This file cannot be transformed.", { hint: error.message, cause: error });
  }
}

type Content = Omit<FileAnswer, "headers" | "disposition">;

function original(storage: Storage, object: FoundObject): Content {
  const { name, type, size, sha256 } = object;
  const etag = `"${sha256.slice(0, 32)}"`;
  return { name, type, size, etag, open: (range) => storage.driver.read(objectKey(object.bytesId), range) };
}

function transformed(object: FoundObject, { bytes, type }: Image, options: TransformOptions | null): Content {
  // With the names of the options: a width of 100 differs from a quality of 100.
  const made = Object.entries({ ...options })
    .map(([name, value]) => `${name}${value}`)
    .join("-");
  const etag = `"${object.sha256.slice(0, 32)}-${type.slice(6)}${made && `-${made}`}"`;
  return { name: renamed(object.name, type), type, size: bytes.length, etag, bytes };
}

/** photo.jpg, sent as WebP, is saved as photo.webp. */
const renamed = (name: string, type: string) => `${name.replace(/\.[^.]{1,8}$/, "")}.${type.slice(6)}`;

function caching({ visibility }: StorageObject, grant: ReadGrant | null): string {
  if (visibility === "public") return `public, max-age=${longest}, immutable`;
  const left = Math.max(0, Math.floor((grant?.expires ?? 0) - Date.now() / 1000));
  return `private, max-age=${Math.min(left, longest)}`;
}
