/** The answers of the service to what a client sends in a channel. Next hop: `channel-room.ts`. */
import { SvcError } from "./error.ts";

/** In milliseconds. */
const answerWithin = 15_000;

export class ChannelAnswers {
  readonly #awaited = new Map<number, { resolve(): void; reject(error: unknown): void }>();
  #refs = 0;

  /** @param send sends a frame under this number @throws SvcError TIMEOUT, and what the service answers */
  ask(send: (ref: number) => void): Promise<void> {
    const ref = ++this.#refs;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.take(ref);
        reject(new SvcError("TIMEOUT", "The service did not answer. The message may have been sent."));
      }, answerWithin);
      const settled = (settle: (error: unknown) => void) => (reason?: unknown) => {
        clearTimeout(late);
        settle(reason);
      };
      this.#awaited.set(ref, { resolve: settled(() => resolve()), reject: settled(reject) });
      send(ref);
    });
  }

  take(ref: number) {
    const answer = this.#awaited.get(ref);
    this.#awaited.delete(ref);
    return answer;
  }

  lose(): void {
    const error = new SvcError("NETWORK_ERROR", "The connection was lost. The message may have been sent.");
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }
}
