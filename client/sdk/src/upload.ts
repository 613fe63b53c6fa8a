/**
 * Uploads that continue after a disconnect, with the tus protocol: the service returns the received length, and gets
 * the rest in pieces.
 * Next hop: `client.fetch`.
 */
import { SvcError } from "./error.ts";
import { withRetries } from "./patience.ts";
import { type RouteInit, toError } from "./request.ts";

export interface UploadOptions {
  /** The file's name. (Default: its own name, else "file") */
  name?: string | undefined;
  /** (Default: "private") */
  visibility?: "private" | "public" | undefined;
  /** Continues an upload that was begun earlier, also by another page. (Default: a new upload) */
  id?: string | undefined;
  /** Gets the upload's id as soon as it is known; pass it as `id` later. */
  onStart?: ((id: string) => void) | undefined;
  /** Called after every piece, in bytes. */
  onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Stops sending; the service keeps the received bytes for a day. The upload rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Retries without progress, half a minute and longer in all. (Default: 8) */
  retries?: number | undefined;
}

export interface UploadProgress {
  /** The bytes that the service has. */
  sent: number;
  size: number;
}

type Fetch = (path: string, init: RouteInit) => Promise<Response>;

const path = "/api/storage/uploads";
const tus = { "tus-resumable": "1.0.0" };

/** In bytes. A piece should take about a second, so that progress is visible and little is sent twice. */
const [smallest, largest] = [256 * 1024, 16 * 1024 * 1024];

/** @param signal ends it; its reason is known */
export async function upload(
  fetch: Fetch,
  file: Blob,
  options: UploadOptions,
  signal: AbortSignal,
): Promise<{ id: string }> {
  checkFile(file);
  const { retries = 8, onProgress = () => {} } = options;
  const persist = <T>(run: () => Promise<T>): Promise<T> => withRetries(retries, signal, () => run().catch(passing));
  const send = async (to: string, init: RouteInit) => {
    const response = await fetch(to, { ...init, headers: { ...tus, ...init.headers }, signal });
    return response.ok ? response : fail(response);
  };
  const id = options.id ?? (await persist(() => begin(send, file, options)));
  options.onStart?.(id);

  let offset = options.id ? undefined : 0;
  let piece = smallest;
  while (offset !== file.size) {
    offset = await persist(async () => {
      // From the last answer, or requested: after a failure it is unknown how much arrived.
      const from = offset ?? (await askOffset(send, id, file.size));
      offset = undefined;
      onProgress({ sent: from, size: file.size });
      if (from === file.size) return from;
      const started = performance.now();
      const headers = { "content-type": "application/offset+octet-stream", "upload-offset": String(from) };
      const body = file.slice(from, from + piece);
      const now = offsetOf(await send(`${path}/${id}`, { method: "PATCH", headers, body }));
      const seconds = (performance.now() - started) / 1000;
      piece = Math.round(Math.min(largest, Math.max(smallest, piece * Math.min(2, 1 / seconds))));
      return now;
    });
  }
  onProgress({ sent: file.size, size: file.size });
  return { id };
}

/** Checks the members: a Blob of another window or of a library is not an instance of this window's class. */
function checkFile(file: Partial<Blob> | null | undefined): void {
  if (typeof file?.size === "number" && typeof file.slice === "function") return;
  const what = file?.constructor?.name ?? file;
  throw new TypeError(
    `client.upload takes a File or a Blob, and got ${what}. Make one: new File([content], "name.txt").`,
  );
}

/** Cancels an upload and removes its received bytes. A finished or unknown upload does not change. */
export async function cancelUpload(fetch: Fetch, id: string): Promise<void> {
  const response = await fetch(`${path}/${id}`, { method: "DELETE", headers: tus });
  if (!response.ok && response.status !== 404) await fail(response);
}

type Send = (to: string, init: RouteInit) => Promise<Response>;

async function begin(send: Send, file: Blob, { name, visibility = "private" }: UploadOptions): Promise<string> {
  const metadata = { filename: name ?? (file as Partial<File>).name ?? "file", filetype: file.type, visibility };
  const pairs = Object.entries(metadata).map(([key, value]) => `${key} ${base64(value)}`);
  const headers = { "upload-length": String(file.size), "upload-metadata": pairs.join(",") };
  const response = await send(path, { method: "POST", headers });
  const id = response.headers.get("location")?.split("/").at(-1);
  return id ?? fail(response);
}

async function askOffset(send: Send, id: string, size: number): Promise<number> {
  const response = await send(`${path}/${id}`, { method: "HEAD" });
  const offset = offsetOf(response);
  if (response.headers.get("upload-length") !== String(size)) {
    throw new SvcError("BAD_REQUEST", "This is not the file that the upload was begun with.");
  }
  return offset;
}

/** @throws SvcError INVALID_ANSWER for a page of a proxy: its status may be 200 */
function offsetOf(response: Response): number {
  const offset = response.headers.get("upload-offset");
  if (offset === null) throw toError(response, "");
  return Number(offset);
}

/** As UTF-8, for names in any language. */
const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

const byStatus: Record<number, string> = { 401: "UNAUTHORIZED", 403: "FORBIDDEN", 404: "NOT_FOUND" };

async function fail(response: Response): Promise<never> {
  const text = await response.text();
  const code = byStatus[response.status];
  // Answers to HEAD have no body.
  if (!text && code) throw new SvcError(code, "This upload cannot be continued.", { status: response.status });
  throw toError(response, text);
}

/** Failures that a new look at the upload resolves: another request came first, or the last answer took too long. */
function passing(error: unknown): never {
  const isPassing = error instanceof SvcError && (error.code === "TIMEOUT" || error.code === "CONFLICT");
  throw isPassing ? new SvcError("UNAVAILABLE", error.message, { status: error.status, cause: error }) : error;
}
