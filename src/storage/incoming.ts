/**
 * Reads a request's body in pieces of a given size, so that the bytes received so far are kept when it breaks off.
 * Next hop: `uploads.ts` stores the pieces.
 */

export class Incoming {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #next: Uint8Array | undefined;
  #isOver = false;
  /** Whether the body broke off: then there is no client to answer. */
  isBroken = false;

  /** The announced number of bytes, NaN without one. */
  readonly length: number;

  constructor(body: AsyncIterable<Uint8Array>, length = Number.NaN) {
    this.length = length;
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Waits until it is known whether more bytes come. */
  async isOver(): Promise<boolean> {
    while (!this.#next?.length && !this.#isOver) await this.#read();
    return !this.#next?.length;
  }

  /** Yields the next bytes, at most `most`. */
  async *take(most: number): AsyncGenerator<Uint8Array> {
    for (let left = most; left > 0 && !(await this.isOver()); ) {
      const chunk = this.#next as Uint8Array;
      const taken = chunk.subarray(0, left);
      this.#next = chunk.subarray(taken.length);
      left -= taken.length;
      yield taken;
    }
  }

  /** Reads and drops the rest; otherwise it would block the answer and the connection's next request. */
  async discard(): Promise<void> {
    while (!this.#isOver) await this.#read();
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#chunks.next();
      this.#next = value;
      this.#isOver = done === true;
    } catch {
      this.#next = undefined;
      this.#isOver = true;
      this.isBroken = true;
    }
  }
}
