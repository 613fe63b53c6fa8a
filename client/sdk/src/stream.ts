/** The body of a route as text, in pieces. */
import { SvcError } from "./error.ts";
import { throwIfAborted } from "./patience.ts";
import { toError } from "./request.ts";

export async function* pieces(
  ask: () => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, undefined> {
  const response = await ask();
  if (!response.ok) throw toError(response, await response.text());
  // React Native's own fetch gives no stream, so the text comes as one piece.
  const reader = response.body?.getReader();
  if (!reader) {
    const text = await response.text();
    if (text) yield text;
    return;
  }
  const decoder = new TextDecoder();
  // This also ends a waiting read; the service sees the disconnect.
  const leave = () => reader.cancel().catch(() => {});
  signal?.addEventListener("abort", leave);
  try {
    for (let done = false; !done; ) {
      throwIfAborted(signal);
      const read = await reader.read().catch(brokenOff);
      throwIfAborted(signal);
      const text = decoder.decode(read.value, { stream: !read.done });
      if (text) yield text;
      done = read.done;
    }
  } finally {
    signal?.removeEventListener("abort", leave);
    void leave();
  }
}

function brokenOff(cause: unknown): never {
  throw new SvcError("NETWORK_ERROR", "The answer broke off.", {
    hint: "What has arrived may be incomplete. Ask again.",
    cause,
  });
}
