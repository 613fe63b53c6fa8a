/**
 * The chunks of a body, in order. Small ones are copied together: as separate objects, a body sent byte by byte would
 * take a hundred times its size.
 */

/** In bytes: a chunk of at least this size is not copied. */
const large = 8 * 1024;
const blockSize = 16 * 1024;

export class ChunkList {
  size = 0;
  #chunks: Buffer[] = [];
  /** The last chunk, if it has room. */
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

  /** Removes and returns all chunks. */
  take(): Buffer[] {
    this.#closeBlock();
    const chunks = this.#chunks;
    this.#chunks = [];
    this.size = 0;
    return chunks;
  }

  /** All chunks as one buffer. */
  whole(): Buffer {
    const chunks = this.#block ? [...this.#chunks.slice(0, -1), this.#block.subarray(0, this.#used)] : this.#chunks;
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, this.size);
  }

  #closeBlock(): void {
    if (this.#block) this.#chunks[this.#chunks.length - 1] = this.#block.subarray(0, this.#used);
    this.#block = undefined;
  }
}
