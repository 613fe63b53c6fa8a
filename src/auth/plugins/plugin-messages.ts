/**
 * Messages that plugins send, such as codes by SMS. As for svc's own mails, the answer does not wait for them: callers must not
 * notice how long a provider takes, or whether it was asked.
 * Called by `../library.ts`. Next hop: `plugin-senders.ts` hands the application's functions over.
 */

import type { Logger } from "pino";
import { inTime } from "../../kit/in-time.ts";
import { reasonOf } from "../mail/mails.ts";

/** In milliseconds, as for mails. */
const timeout = 10_000;

export class PluginMessages {
  readonly #log: Logger;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param sending never rejects: the library catches errors before */
  readonly add = (sending: Promise<unknown>): void => {
    const done = inTime(sending, timeout).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  };

  /**
   * Sends a message beside the answer. An error is one line in the log.
   *
   * @param secrets what the message has that the log must not have
   */
  send(start: () => unknown, secrets: readonly string[]): void {
    this.add((async () => start())().catch((error: unknown) => this.failed(error, secrets)));
  }

  /** Logs an error of the function that sends. @param secrets as for `send` */
  failed(error: unknown, secrets: readonly string[] = []): void {
    const reason = reasonOf(error, secrets).replace(/\+?\d(?:[ ()./-]?\d){5,}/g, "[number]");
    this.#log.error({ from: "better-auth", reason }, "a message of a plugin could not be sent");
  }

  /** Waits for the messages that are being sent, for ten seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
