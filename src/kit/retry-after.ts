/** How long another server asks to wait before the next attempt. Used by `src/ai/`, `src/webhooks/` and `src/documents/hosted.ts`. */

/**
 * Parses seconds or a date (RFC 9110, section 10.2.3).
 *
 * @param header the value of Retry-After
 * @returns milliseconds from 0; null without the header, and for what is neither
 */
export function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  const wait = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isFinite(wait) ? Math.max(0, wait) : null;
}
