/**
 * Ends bodies that arrive too slowly. One timer serves all bodies of a process: nearly all are complete before a timer
 * of their own would matter.
 */
import { SvcError } from "../kit/svc-error.ts";

/** A body that is being received. */
export interface TimedBody {
  /** Bytes since the last look. */
  received: number;
  /** Whether the service itself is slow, such as its disk: only the client's time counts. (Default: no) */
  isBusy?: boolean;
  wasBusy?: boolean;
  /** Whether a window has begun since; the first one is not whole. */
  isTimed?: boolean;
  /** Ends the body. */
  refuse(error: SvcError): void;
}

export class BodyClock {
  readonly #windowMs: number;
  readonly #bytesPerWindow: number;
  readonly #bodies = new Set<TimedBody>();
  #timer: NodeJS.Timeout | undefined;

  /** @param bytesPerWindow a body that has received fewer bytes in a whole window is refused */
  constructor(windowMs: number, bytesPerWindow: number) {
    this.#windowMs = windowMs;
    this.#bytesPerWindow = bytesPerWindow;
  }

  begin(body: TimedBody): void {
    this.#bodies.add(body);
    this.#timer ??= setInterval(() => this.#look(), this.#windowMs).unref();
  }

  end(body: TimedBody): void {
    this.#bodies.delete(body);
  }

  #look(): void {
    for (const body of this.#bodies) {
      if (body.isTimed && !body.wasBusy && body.received < this.#bytesPerWindow) {
        const hint = `Send ${this.#bytesPerWindow} bytes within ${this.#windowMs} ms.`;
        body.refuse(new SvcError("REQUEST_TIMEOUT", undefined, { hint }));
      } else if (body.isTimed) body.received = 0;
      body.wasBusy = body.isBusy ?? false;
      body.isTimed = true;
    }
    if (this.#bodies.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
