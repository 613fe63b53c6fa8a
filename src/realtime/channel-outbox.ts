/**
 * Sends what is said in channels into the write-ahead log, which all processes read. While one statement runs, what comes
 * is collected for the next one: a process sends one at a time.
 * Next hop: `sql/realtime/broadcast.sql`; `channels.ts` hears it, in this process too.
 */
import { SvcError } from "../kit/svc-error.ts";

/** Runs `svc_private.broadcast()`; or for durable channels `svc.store_messages()`, whose answer has the places of those that were not stored. */
export type Broadcast = (messages: string) => Promise<unknown>;

/** In bytes, of one statement; as the function allows, less the list's own characters. */
const most = 250_000;

interface Waiting {
  text: string;
  sent(): void;
  failed(error: unknown): void;
}

/** In bytes, of all that waits. */
const maxWaiting = 8 * 1024 * 1024;

export class ChannelOutbox {
  readonly #broadcast: Broadcast;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #isSending = false;

  constructor(broadcast: Broadcast) {
    this.#broadcast = broadcast;
  }

  /** Resolves when every process that reads the log will hear it. @throws SvcError UNAVAILABLE */
  send(item: object): Promise<void> {
    const text = JSON.stringify(item);
    if (this.#bytes > maxWaiting) throw new SvcError("UNAVAILABLE", "Channels cannot send now. Try again shortly.");
    this.#bytes += text.length;
    return new Promise((sent, failed) => {
      this.#waiting.push({ text, sent, failed });
      if (this.#isSending) return;
      this.#isSending = true;
      setImmediate(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      await this.#broadcast(`[${batch.map(({ text }) => text).join(",")}]`).then(
        (refused) => {
          for (const [place, { sent, failed }] of batch.entries())
            if (Array.isArray(refused) && refused.includes(place))
              failed(new SvcError("UNAVAILABLE", "Your account is being changed. Try again."));
            else sent();
        },
        (error) => {
          for (const { failed } of batch) failed(error);
        },
      );
    }
    this.#isSending = false;
  }

  #take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { text } of this.#waiting) {
      bytes += Buffer.byteLength(text) + 1;
      if (bytes > most && count > 0) break;
      count++;
    }
    const batch = this.#waiting.splice(0, count);
    for (const { text } of batch) this.#bytes -= text.length;
    return batch;
  }
}
