/**
 * Chunks of a body in the order in which they came. Small ones are copied together: a body that is sent byte by byte would
 * otherwise take a hundred times its size, an object for each.
 */

/** In bytes: a chunk of this size stays as it is. */
const large = 8 * 1024;
const blockSize = 16 * 1024;

export class ChunkList {
  size = 0;
  #chunks: Buffer[] = [];
  /** The last of the chunks, when it has room. */
  #block: Buffer | undefined;
  #used = 0;

  add(chunk: Buffer): void {
    this.size += chunk.length;
    // Most bodies are one chunk.
    if (chunk.length >= large || this.#chunks.length === 0) {
      this.#closeBlock();
      this.#chunks.push(chunk);
      return;
    }
    for (let at = 0; at < chunk.length; ) {
      if (!this.#block) {
        this.#block = Buffer.allocUnsafeSlow(blockSize);
        this.#used = 0;
        this.#chunks.push(this.#block);
      }
      const copied = chunk.copy(this.#block, this.#used, at);
      at += copied;
      this.#used += copied;
      if (this.#used === blockSize) this.#closeBlock();
    }
  }

  /** All there is, and begins anew. */
  take(): Buffer[] {
    this.#closeBlock();
    const chunks = this.#chunks;
    this.#chunks = [];
    this.size = 0;
    return chunks;
  }

  /** All there is, in one. */
  whole(): Buffer {
    const chunks = this.#block ? [...this.#chunks.slice(0, -1), this.#block.subarray(0, this.#used)] : this.#chunks;
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, this.size);
  }

  #closeBlock(): void {
    if (this.#block) this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#used);
    this.#block = undefined;
  }
}
