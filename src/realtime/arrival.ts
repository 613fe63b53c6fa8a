/** Those who wait until changes arrive. Next hop: `channels.ts`. */
import { SvcError } from "../kit/svc-error.ts";

/** In milliseconds. */
const longestWait = 10_000;

export class Arrival {
  readonly #waiting = new Set<() => void>();

  /** @throws SvcError UNAVAILABLE */
  wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(wake);
        reject(new SvcError("UNAVAILABLE", "Changes do not arrive in this process. Try again shortly."));
      }, longestWait).unref();
      this.#waiting.add(wake);
    });
  }

  come(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
