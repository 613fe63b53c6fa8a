/** Checks requests to the bridge: only small JSON requests of the frontend's own pages are accepted. Next hop: none. */
import { SvcError } from "../error.ts";

/** In bytes. */
const maxBody = 16 * 1024;

/**
 * Prevents cross-site request forgery: the browser adds the cookie, but also names the origin of the page.
 *
 * @param own the frontend's origins
 * @returns the origin of the page
 * @throws SvcError FORBIDDEN for other origins, and for a request without one
 */
export function requireOwnPage(request: Request, own: readonly string[]): string {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if (origin !== null && own.includes(origin) && (site === null || site === "same-origin")) return origin;
  throw new SvcError("FORBIDDEN", "Only the frontend's own pages may do this.", {
    status: 403,
    hint: "Behind a proxy, or with several names, list the frontend's origins in the bridge's option `origin`.",
  });
}

/**
 * Reads a body that is passed on unchanged.
 *
 * @throws SvcError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, BAD_REQUEST
 */
export async function readJsonText(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  requireJson(request);
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read().catch(cutShort)) ?? { done: true, value: undefined };
    if (done) break;
    size += value.length;
    if (size > maxBody) {
      await reader?.cancel();
      throw new SvcError("PAYLOAD_TOO_LARGE", "The request is larger than the bridge accepts.", {
        status: 413,
        hint: `At most ${maxBody} bytes are accepted here.`,
      });
    }
    chunks.push(value);
  }
  return join(chunks, size);
}

/** @param isEmpty whether the endpoint takes no body; then no content type is needed */
export function requireJson(request: Request, isEmpty = false): void {
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  if (type === "application/json" || (type === undefined && isEmpty)) return;
  throw new SvcError("UNSUPPORTED_MEDIA_TYPE", "The bridge takes JSON.", {
    status: 415,
    hint: "Send application/json.",
  });
}

function cutShort(cause: unknown): never {
  throw new SvcError("BAD_REQUEST", "The request was cut short.", { status: 400, cause });
}

function join(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
