/**
 * What a handler began and may not have awaited. The call waits for it before COMMIT, and fails when it failed: a job
 * that could not be enqueued is not lost in silence.
 * Next hop: `create-context.ts` settles it.
 */
export class Unawaited {
  readonly #pending = new Set<Promise<unknown>>();

  keep<T>(run: () => Promise<T>): Promise<T> {
    const running = run();
    this.#pending.add(running);
    // Whether it failed is settle()'s business; without a listener here the process would end.
    running.then(
      () => this.#pending.delete(running),
      () => {},
    );
    return running;
  }

  /** Waits for all of it, also for what begins meanwhile. @throws what the first of them failed with */
  async settle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }
}
