/**
 * Messages that plugins send, such as codes by SMS. As for svc's own mails, the answer does not wait for them: callers must not
 * notice how long a provider takes, or whether it was asked.
 * Called by `../library.ts`, which also logs their errors. Next hop: the application's function.
 */

/** In milliseconds, as for mails. */
const timeout = 10_000;

export class PluginMessages {
  readonly #underWay = new Set<Promise<void>>();

  /** @param sending never rejects: the library catches errors before */
  readonly add = (sending: Promise<unknown>): void => {
    const done = endOf(sending).finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  };

  /** Waits for the messages that are being sent, for ten seconds at most. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

async function endOf(sending: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeout);
  await Promise.race([sending, late.promise]).finally(() => clearTimeout(timer));
}
