/**
 * A paid stream of text: credits are reserved when the first piece is requested, and settled at its end. It ends as
 * soon as its reader leaves, also while the provider is silent.
 * Next hop: `credits.ts`.
 */
import { endedEarly } from "../kit/ended-early.ts";
import type { AiCall } from "./call.ts";
import type { CreditRequest } from "./credits.ts";
import { type Billing, tokensOf, totalled } from "./paid.ts";
import type { Incomplete, StreamingAnswer, TokenCount } from "./provider.ts";

/** The cost of a streamed answer. */
interface StreamBilling extends Billing {
  /** As in an answer of `ai.chat`; `interrupted`: its reader left, or the provider failed. */
  incomplete?: Incomplete | "interrupted";
}

export interface AiStream extends AsyncIterableIterator<string> {
  /** Resolves when the stream is over, however it ended. It stays pending if nobody reads the stream. */
  readonly billing: Promise<StreamBilling>;
}

type StreamRequest = Omit<CreditRequest, "userId"> & { estimate: TokenCount };

/** @param start gets a signal that aborts when the reader leaves */
export function streamed(
  call: AiCall,
  request: StreamRequest,
  start: (left: AbortSignal) => StreamingAnswer,
): AiStream {
  const left = new AbortController();
  const { promise: billing, resolve: bill } = Promise.withResolvers<StreamBilling>();
  const parts = paidParts(call, request, left, start, bill);
  const leave = () => left.abort(new Error("nobody reads the stream any more"));
  return { billing, ...endedEarly(parts, leave) };
}

async function* paidParts(
  { services, userId }: AiCall,
  request: StreamRequest,
  left: AbortController,
  start: Parameters<typeof streamed>[2],
  bill: (billing: StreamBilling) => void,
): AsyncGenerator<string, undefined> {
  const { model } = request;
  const nothing = totalled({ inputTokens: 0, outputTokens: 0 });
  let billing: StreamBilling = { ...nothing, creditsCharged: 0, model, incomplete: "interrupted" };
  try {
    const reservation = await services.credits.reserve({ userId, ...request });
    let outputTokens = 0;
    let ended = false;
    const settle = async (used: TokenCount) => ({
      ...totalled(used),
      creditsCharged: await reservation.settle(used),
      model,
    });
    const estimated = () => ({ inputTokens: request.estimate.inputTokens, outputTokens });
    try {
      const { text, end } = start(left.signal);
      for await (const part of text) {
        outputTokens += tokensOf(part);
        yield part;
      }
      ended = true;
      const { usage, incomplete } = await end;
      billing = { ...(await settle({ ...estimated(), ...usage })), ...(incomplete && { incomplete }) };
    } finally {
      left.abort(new Error("the stream is over"));
      // An unfinished text is charged by estimate, because the provider reports no usage for it.
      if (!ended && outputTokens > 0) billing = { ...(await settle(estimated())), incomplete: "interrupted" };
      else if (!ended) await reservation.release();
    }
  } finally {
    bill(billing);
  }
}
