/**
 * A request's body, taken in pieces of a given size, so that what has arrived is kept when the rest does not come.
 * Next hop: `uploads.ts` stores the pieces.
 */

export class Incoming {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #next: Uint8Array | undefined;
  #isOver = false;
  /** Whether the body broke off: there is nobody to be answered. */
  isBroken = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#chunks = body[Symbol.asyncIterator]();
  }

  /** Whether nothing more comes; waits until that is known. */
  async isOver(): Promise<boolean> {
    while (!this.#next?.length && !this.#isOver) await this.#read();
    return !this.#next?.length;
  }

  /** The next bytes, at most so many. */
  async *take(most: number): AsyncGenerator<Uint8Array> {
    for (let left = most; left > 0 && !(await this.isOver()); ) {
      const chunk = this.#next as Uint8Array;
      const taken = chunk.subarray(0, left);
      this.#next = chunk.subarray(taken.length);
      left -= taken.length;
      yield taken;
    }
  }

  /** Lets the rest pass: unread, it would stand before the answer, and before the connection's next request. */
  async discard(): Promise<void> {
    while (!this.#isOver) await this.#read();
    this.#next = undefined;
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
