/**
 * Limits the memory for answers that clients do not read: Node keeps an answer until the kernel has taken all of it. When the
 * limit is reached, the connections of the answers that wait longest are broken. No new answer is refused: the change that it
 * reports has been saved. Called by `body-budget.ts`, which knows the client's address.
 */
import type { ServerResponse } from "node:http";

interface Held {
  address: string;
  bytes: number;
}

export class UnreadAnswers {
  readonly #total: number;
  /** The longest wait first. */
  readonly #held = new Map<ServerResponse, Held>();
  readonly #ofAddress = new Map<string, number>();
  #bytes = 0;

  /** @param total in bytes; one address may use a quarter of it. One answer of any size may wait alone */
  constructor(total: number) {
    this.#total = total;
  }

  /** Counts an answer until its response closes. */
  hold(response: ServerResponse, held: Held): void {
    if (response.closed) return; // the client has left: no "close" would follow
    const { address, bytes } = held;
    this.#held.set(response, held);
    this.#add(address, bytes);
    response.once("close", () => this.#release(response));

    for (const [other, { address: its }] of this.#held) {
      const isOverShare = (this.#ofAddress.get(address) ?? 0) > this.#total / 4;
      if (!isOverShare && this.#bytes <= this.#total) return;
      if (other === response || (isOverShare && its !== address)) continue;
      this.#release(other);
      other.destroy();
    }
  }

  #release(response: ServerResponse): void {
    const held = this.#held.get(response);
    if (!held) return;
    this.#held.delete(response);
    this.#add(held.address, -held.bytes);
  }

  #add(address: string, bytes: number): void {
    this.#bytes += bytes;
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + bytes;
    if (ofAddress > 0) this.#ofAddress.set(address, ofAddress);
    else this.#ofAddress.delete(address);
  }
}
