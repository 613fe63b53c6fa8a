/**
 * Limits the answer of another server that is read as a whole: it may be endless, or a few kilobytes that unpack to
 * gigabytes. Bytes are counted after unpacking.
 * Used by `src/ai/patient-fetch.ts`, `src/documents/hosted.ts` and `src/auth/social/provider.ts`.
 */

/**
 * @param most in bytes
 * @param tooLarge makes the error with which reading fails
 * @param arrived is called with each piece
 * @param over is called when all has been read
 */
export function limitAnswer(
  response: Response,
  most: number,
  tooLarge: () => Error,
  arrived?: () => void,
  over?: () => void,
): Response {
  if (response.body === null) return response;
  let size = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      arrived?.();
      size += chunk.length;
      if (size > most) throw tooLarge();
      controller.enqueue(chunk);
    },
    flush: () => over?.(),
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
