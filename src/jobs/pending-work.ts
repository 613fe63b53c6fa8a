/**
 * Tracks work that a handler may not have awaited. The call waits for it before COMMIT, and fails if it failed, so that
 * a failed enqueue is not lost silently. A failure that the handler catches is left to the handler.
 * Next hop: `src/call/create-context.ts` settles it.
 */
export class PendingWork {
  readonly #pending = new Set<Entry>();

  /** @param read converts the result for the handler; its errors go only to the handler */
  keep<T>(run: () => Promise<T>): Promise<T>;
  keep<T, R>(run: () => Promise<T>, read: (value: T) => R): Promise<R>;
  keep<T>(run: () => Promise<T>, read: (value: T) => unknown = (value) => value): Promise<unknown> {
    const running = run();
    const told = new Observed<unknown>((resolve, reject) => {
      running.then(read).then(resolve, reject);
    });
    const entry: Entry = { running, told };
    this.#pending.add(entry);
    running.then(
      () => this.#pending.delete(entry),
      (error) => {
        entry.failure = { error };
      },
    );
    told.ignore();
    return told;
  }

  /** The first failure so far that was not caught. */
  get uncaught(): { error: unknown } | undefined {
    return [...this.#pending].find(({ failure, told }) => failure && !told.isCaught)?.failure;
  }

  /** Waits for all work, including work that begins meanwhile. @throws the first error that was not caught */
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
 * Detects whether its failure is handled: by `await`, which passes two functions to `then`, by `catch`, or at the end
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

  /** Prevents an unhandled rejection, which would end the process, without counting as handled. */
  ignore(): void {
    super.then(undefined, () => {});
  }

  #caught(): void {
    this.isCaught = true;
    if (this.#source) this.#source.#caught();
  }
}

interface Entry {
  running: Promise<unknown>;
  told: Observed<unknown>;
  failure?: { error: unknown };
}
