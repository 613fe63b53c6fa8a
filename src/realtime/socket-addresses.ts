/**
 * Limits the open sockets of each address. A socket costs a file descriptor and memory as long as its client keeps it
 * open. So requests are counted per minute, and sockets while they are open.
 * Next hop: `socket.ts` calls it; `subscription-registry.ts` limits subscriptions by the same addresses.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { networkOf } from "../http/client-address.ts";
import { addressOf } from "../http/request-limits.ts";
import { SvcError } from "../kit/svc-error.ts";

export interface SocketAddressesOptions {
  /** At once, to this process; false: no limit. */
  socketsPerAddress: number | false;
  trustProxy: boolean | number;
}

/** In seconds. */
const comeBackAfter = 30;

export class SocketAddresses {
  readonly #options: SocketAddressesOptions;
  readonly #open = new Map<string, number>();

  constructor(options: SocketAddressesOptions) {
    this.#options = options;
  }

  /** The network of a client, with a limit or without. */
  networkOf(request: IncomingMessage): string {
    return networkOf(addressOf(request, this.#options.trustProxy));
  }

  /**
   * Counts a socket until it is closed, also if the upgrade fails.
   *
   * @returns the counted address; null without a limit
   * @throws SvcError RATE_LIMITED
   */
  enter(request: IncomingMessage, socket: Duplex): string | null {
    const { socketsPerAddress: most } = this.#options;
    if (most === false || socket.destroyed) return null;
    const address = this.networkOf(request);
    const open = this.#open.get(address) ?? 0;
    if (open >= most) {
      throw new SvcError("RATE_LIMITED", "Too many sockets are open from this address.", {
        retryAfter: comeBackAfter,
        hint: "limits.socketsPerAddress says how many may be; behind a proxy, trustProxy tells whose they are.",
      });
    }
    this.#open.set(address, open + 1);
    socket.once("close", () => {
      const left = (this.#open.get(address) ?? 1) - 1;
      if (left > 0) this.#open.set(address, left);
      else this.#open.delete(address);
    });
    return address;
  }
}
