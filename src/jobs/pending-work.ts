/**
 * What a handler began and may not have awaited. The call waits for it before COMMIT, and fails when it failed: a job
 * that could not be enqueued is not lost in silence. A failure that the handler catches is the handler's to decide about.
 * Next hop: `src/call/create-context.ts` settles it.
 */
export class PendingWork {
  readonly #pending = new Set<{ running: Promise<unknown>; told: Observed<unknown> }>();

  /** @param read makes of the result what the handler gets; what it throws concerns the handler alone */
  keep<T>(run: () => Promise<T>): Promise<T>;
  keep<T, R>(run: () => Promise<T>, read: (value: T) => R): Promise<R>;
  keep<T>(run: () => Promise<T>, read: (value: T) => unknown = (value) => value): Promise<unknown> {
    const running = run();
    const told = new Observed<unknown>((resolve, reject) => {
      running.then(read).then(resolve, reject);
    });
    const entry = { running, told };
    this.#pending.add(entry);
    running.then(
      () => this.#pending.delete(entry),
      () => {},
    );
    told.ignore();
    return told;
  }

  /** Waits for all of it, also for what begins meanwhile. @throws what the first of them failed with that nobody caught */
  async settle(): Promise<void> {
    for (const entry of this.#pending) {
      await entry.running.catch((error) => {
        if (!entry.told.isCaught) throw error;
      });
      this.#pending.delete(entry);
    }
  }
}

/**
 * Knows whether somebody deals with its failure: by `await`, which passes two functions to `then`, by `catch`, or at the end
 * of a chain of `then`.
 */
class Observed<T> extends Promise<T> {
  isCaught = false;
  #source: Observed<unknown> | undefined;

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(done, failed) as Observed<A | B>;
    if (failed) this.#caught();
    else next.#source = this as Observed<unknown>;
    return next;
  }

  /** Keeps the process alive when nobody deals with it, without counting as somebody. */
  ignore(): void {
    super.then(undefined, () => {});
  }

  #caught(): void {
    this.isCaught = true;
    if (this.#source) this.#source.#caught();
  }
}
