/**
 * Serves static files as Brotli or gzip to clients that accept them: scripts, styles and pages shrink to a quarter.
 * Each file is compressed once and kept in memory. Requests with ranges, or with conditions other than `If-None-Match`,
 * are left to `express.static`, which sends the file uncompressed.
 * Next hop: `static-files.ts` mounts this in front of `express.static`.
 */
import { readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { RequestHandler } from "express";
import { isKnown } from "../http/conditions.ts";
import { RecentMap } from "../kit/recent-map.ts";

/** The better one first: browsers accept both alike. */
const encodings = ["br", "gzip"] as const;
type Encoding = (typeof encodings)[number];

/** File types that are not compressed already. */
const compressible = /^\.(?:css|html?|js|json|map|mjs|svg|txt|wasm|webmanifest|xml)$/i;

/** File sizes in bytes. Below, headers are most of the answer; above, compression would occupy a thread for seconds. */
const smallest = 1024;
const largest = 8 * 1024 * 1024;

/** In bytes, of compressed files in memory. */
const memory = 64 * 1024 * 1024;

const left = ["range", "if-match", "if-unmodified-since", "if-modified-since"] as const;

/**
 * @param folder absolute
 * @param cacheControl the header's value for a path
 */
export function compressedFiles(folder: string, cacheControl: (path: string) => string): RequestHandler {
  const files = new Compressed();
  return async (request, response, next) => {
    const path = request.method === "GET" || request.method === "HEAD" ? pathOf(request.path) : null;
    if (path === null || !compressible.test(extname(path))) return next();
    // Caches must keep the answers to different Accept-Encoding apart, including the uncompressed one.
    response.vary("Accept-Encoding");
    const encoding = encodings.find((name) => request.acceptsEncodings(name));
    if (!encoding || left.some((name) => isAsked(request.headers, name))) return next();
    const found = await files.get(join(folder, path), encoding);
    if (!found) return next();

    response.setHeader("etag", found.etag);
    if (!response.hasHeader("cache-control")) response.setHeader("cache-control", cacheControl(path));
    if (isKnown(request.headers["if-none-match"], found.etag)) return void response.status(304).end();
    if (!response.hasHeader("content-type")) response.type(extname(path));
    response.setHeader("content-encoding", encoding);
    response.setHeader("content-length", found.bytes.length);
    response.end(request.method === "HEAD" ? undefined : found.bytes);
  };
}

/** Browsers send If-Modified-Since along with If-None-Match, which takes precedence (RFC 9110, section 13.2.2). */
function isAsked(headers: Record<string, unknown>, name: (typeof left)[number]): boolean {
  if (name === "if-modified-since" && headers["if-none-match"] !== undefined) return false;
  return headers[name] !== undefined;
}

/** The file's path within the folder; null for paths that `express.static` must refuse or answer itself. */
function pathOf(path: string): string | null {
  try {
    const decoded = decodeURIComponent(path);
    const isHidden = /[/\\]\.|\0/.test(decoded); // ".." too
    return isHidden ? null : decoded.endsWith("/") ? `${decoded}index.html` : decoded;
  } catch {
    return null;
  }
}

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

interface File {
  bytes: Buffer;
  etag: string;
}

class Compressed {
  readonly #kept = new RecentMap<string, File>(memory, (_key, { bytes }) => bytes.length);
  readonly #underWay = new Map<string, Promise<File | null>>();

  /** @returns null if it is not a file, or not worth compressing */
  async get(path: string, encoding: Encoding): Promise<File | null> {
    const found = await stat(path).catch(() => null);
    if (!found?.isFile() || found.size < smallest || found.size > largest) return null;
    const version = `${found.size.toString(16)}-${found.mtimeMs.toString(16)}-${encoding}`;
    const key = `${path}\n${version}`;
    return (
      this.#kept.get(key) ?? this.#underWay.get(key) ?? this.#keep(key, compress(path, encoding, `W/"${version}"`))
    );
  }

  #keep(key: string, compressed: Promise<File>): Promise<File | null> {
    const file = compressed
      .then((made) => {
        this.#kept.set(key, made);
        return made;
      })
      .catch(() => null) // removed meanwhile: express.static answers
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, file);
    return file;
  }
}

async function compress(path: string, encoding: Encoding, etag: string): Promise<File> {
  const bytes = await readFile(path);
  // A middle quality: nearly as small as the highest, in a fiftieth of the time.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return { etag, bytes: encoding === "br" ? await toBrotli(bytes, { params }) : await toGzip(bytes) };
}
