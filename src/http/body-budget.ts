/**
 * Limits the request bodies of a process: bytes of memory, bytes of temporary files, and time. Bytes count until the
 * response has closed and the handler has ended, because the body, or its parsed value, lives that long.
 * Next hop: `body.ts` and `form.ts` count here, `form-files.ts` holds the temporary files; `unread-answers.ts`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { SvcError } from "../kit/svc-error.ts";
import type { FormFiles } from "./form-files.ts";
import { UnreadAnswers } from "./unread-answers.ts";

export interface BodyBudgetOptions {
  /** Largest JSON or text body, in bytes. */
  jsonBytes: number;
  /** Largest multipart or binary body, in bytes. */
  multipartBytes: number;
  /** For bodies in memory, of all requests together. */
  bodyMemoryBytes: number;
  /** For files of forms on disk, of all requests together. */
  formDiskBytes: number;
  /** The minimum rate of a body over a window; a slower one is refused. */
  bodyBytesPerSecond: number;
  /** In milliseconds. */
  bodyWindowMs: number;
}

/** In bytes: a body, or the fields of a form, up to this size are not counted. */
export const uncounted = 16_384;

/** In seconds. */
const retryAfter = 5;

/** A budget of bytes; one address may use a quarter of it. */
class Pot {
  readonly #total: number;
  readonly #share: number;
  readonly #ofAddress = new Map<string, number>();
  #held = 0;

  /** @param largest the largest need of one request; both limits are at least that */
  constructor(total: number, largest: number) {
    this.#total = Math.max(total, largest);
    this.#share = Math.max(Math.floor(total / 4), largest);
  }

  /** @throws SvcError RATE_LIMITED beyond the address's share, UNAVAILABLE when the budget is used up */
  take(address: string, bytes: number): void {
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + bytes;
    if (ofAddress > this.#share) {
      throw new SvcError("RATE_LIMITED", "Too many bodies from this address are being received.", { retryAfter });
    }
    if (this.#held + bytes > this.#total) {
      throw new SvcError("UNAVAILABLE", "Too many bodies are being received.", { retryAfter });
    }
    this.#held += bytes;
    this.#ofAddress.set(address, ofAddress);
  }

  give(address: string, bytes: number): void {
    this.#held -= bytes;
    const left = (this.#ofAddress.get(address) ?? 0) - bytes;
    if (left > 0) this.#ofAddress.set(address, left);
    else this.#ofAddress.delete(address);
  }
}

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

/** One timer serves all bodies of a process: nearly all are complete before a timer of their own would matter. */
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

export class BodyBudget {
  readonly memory: Pot;
  readonly disk: Pot;
  /** As much again as for bodies in memory. */
  readonly answers: UnreadAnswers;
  /** null: there is no folder, as in tests of the reader alone. */
  readonly files: FormFiles | null;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly clock: BodyClock;

  /** @param addressOf the client's network, as `request-limits.ts` counts it */
  constructor(limits: BodyBudgetOptions, files: FormFiles | null, addressOf: (request: IncomingMessage) => string) {
    const largest = Math.max(limits.jsonBytes, limits.multipartBytes);
    this.memory = new Pot(limits.bodyMemoryBytes, largest);
    this.disk = new Pot(limits.formDiskBytes, limits.multipartBytes);
    this.answers = new UnreadAnswers(limits.bodyMemoryBytes);
    this.files = files;
    this.addressOf = addressOf;
    this.clock = new BodyClock(
      limits.bodyWindowMs,
      Math.ceil((limits.bodyBytesPerSecond * limits.bodyWindowMs) / 1000),
    );
  }

  /** Must be called for every request before its body is read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    (request as Received)[receipt] = { budget: this, until: response };
  }
}

/** What a request's body counts for. A property, because a WeakMap of all requests would cost each garbage collection. */
interface Receipt {
  readonly budget: BodyBudget;
  /** Its "close" ends the account. */
  readonly until: ServerResponse | IncomingMessage;
  /** The handler. Until it has ended, the data it may still read is kept, also after the client has disconnected. */
  work?: Promise<unknown>;
  /** Most bodies are so small that they need none. */
  account?: BodyAccount;
}

const receipt = Symbol("receipt");
type Received = IncomingMessage & { [receipt]?: Receipt };

/** The receipt of a request after `begin`; for others, one that ends with the request. */
function receiptOf(request: IncomingMessage): Receipt {
  const received: Received = request;
  received[receipt] ??= { budget: alone, until: request };
  return received[receipt];
}

/** Names the handler of a request: its data is kept until the handler has ended. */
export function handledBy(request: IncomingMessage, work: Promise<unknown>): void {
  receiptOf(request).work = work;
}

/** For requests without a `begin`. */
const mebibyte = 1024 * 1024;
const alone = new BodyBudget(
  {
    jsonBytes: mebibyte,
    multipartBytes: 50 * mebibyte,
    bodyMemoryBytes: 256 * mebibyte,
    formDiskBytes: 0,
    bodyBytesPerSecond: 1024,
    bodyWindowMs: 30_000,
  },
  null,
  () => String(nextAlone++),
);
let nextAlone = 0;

export function accountOf(request: IncomingMessage): BodyAccount {
  const received = receiptOf(request);
  received.account ??= new BodyAccount(request, received);
  return received.account;
}

export const clockOf = (request: IncomingMessage): BodyClock => receiptOf(request).budget.clock;

/** Must be called for every answer that is sent as a whole, of any size. @param bytes of its body */
export function countAnswer(response: ServerResponse, bytes: number): void {
  if (bytes <= uncounted) return;
  const { budget } = receiptOf(response.req);
  budget.answers.hold(response, { address: budget.addressOf(response.req), bytes });
}

/** Closes the connection after the answer: the rest of the request is not read. */
export function closeConnection(request: IncomingMessage): void {
  const { until } = receiptOf(request);
  if ("shouldKeepAlive" in until) until.shouldKeepAlive = false;
}

/** The account of one request. */
export class BodyAccount {
  readonly #request: IncomingMessage;
  readonly #receipt: Receipt;
  readonly #held = { memory: 0, disk: 0 };
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  #address: string | undefined;
  #isEnding = false;
  #isOver = false;

  constructor(request: IncomingMessage, receipt: Receipt) {
    this.#request = request;
    this.#receipt = receipt;
  }

  get budget(): BodyBudget {
    return this.#receipt.budget;
  }

  /** @throws SvcError as `Pot.take` */
  take(pot: "memory" | "disk", bytes: number): void {
    this.#endOnClose();
    this.#address ??= this.budget.addressOf(this.#request);
    this.budget[pot].take(this.#address, bytes);
    this.#held[pot] += bytes;
    if (this.#isOver) this.#giveAll();
  }

  give(pot: "memory" | "disk", bytes: number): void {
    const held = Math.min(bytes, this.#held[pot]);
    this.#held[pot] -= held;
    if (held > 0) this.budget[pot].give(this.#address ?? "", held);
  }

  /** Registers a cleanup for the end of the account; it must not throw. */
  atEnd(cleanup: () => Promise<unknown>): void {
    this.#endOnClose();
    if (this.#isOver) void cleanup();
    else this.#cleanups.push(cleanup);
  }

  #endOnClose(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const end = async () => {
      await this.#receipt.work?.catch(() => {});
      this.#isOver = true;
      this.#giveAll();
      for (const cleanup of this.#cleanups.splice(0)) await cleanup();
    };
    const { until } = this.#receipt;
    if (until.closed) void end();
    else until.once("close", () => void end());
  }

  #giveAll(): void {
    this.give("memory", this.#held.memory);
    this.give("disk", this.#held.disk);
  }
}
