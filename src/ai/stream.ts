/**
 * A paid stream of text: credits are reserved when the first piece is requested, and settled at its end. It ends as
 * soon as its reader leaves, also while the provider is silent.
 * Next hop: `credits.ts`.
 */
import type { AiCall } from "./call.ts";
import type { CreditRequest } from "./credits.ts";
import { tokensOf } from "./paid.ts";
import type { ReportedUsage, TokenCount } from "./provider.ts";

type StreamRequest = Omit<CreditRequest, "userId"> & { estimate: TokenCount };

/** @param start gets a signal that aborts when the reader leaves */
export function streamed(
  call: AiCall,
  request: StreamRequest,
  start: (left: AbortSignal) => { text: AsyncIterable<string>; usage: Promise<ReportedUsage> },
): AsyncIterableIterator<string> {
  const left = new AbortController();
  const parts = paidParts(call, request, left, start);
  // A generator that waits for the provider would notice its end only with the next piece.
  const leave = () => left.abort(new Error("nobody reads the stream any more"));
  return {
    next: () => parts.next(),
    return() {
      leave();
      return parts.return(undefined);
    },
    throw(error) {
      leave();
      return parts.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* paidParts(
  { services, userId }: AiCall,
  request: StreamRequest,
  left: AbortController,
  start: Parameters<typeof streamed>[2],
): AsyncGenerator<string, undefined> {
  const reservation = await services.credits.reserve({ userId, ...request });
  let outputTokens = 0;
  let ended = false;
  const estimated = () => ({ inputTokens: request.estimate.inputTokens, outputTokens });
  try {
    const { text, usage } = start(left.signal);
    for await (const part of text) {
      outputTokens += tokensOf(part);
      yield part;
    }
    ended = true;
    await reservation.settle({ ...estimated(), ...(await usage) });
  } finally {
    left.abort(new Error("the stream is over"));
    // An unfinished text is charged by estimate, because the provider reports no usage for it.
    if (!ended) {
      await (outputTokens > 0 ? reservation.settle(estimated()) : reservation.release());
    }
  }
}
