/**
 * Lets nested transactions that a call has begun side by side run one after the other: a savepoint that is set while another one
 * is there lies inside it, and would be undone with it. One that is begun by the code of another belongs inside, and runs at once.
 * Called by `transaction.ts`.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A transaction, or a nested one: those that are begun in it run one after the other. */
class Level {
  readonly of: object;
  readonly around: Level | undefined;
  /** The end of the one that was begun last. */
  last: Promise<void> | undefined;
  isOver = false;

  /** @param of the transaction @param around what the code that begins it runs in */
  constructor(of: object, around?: Level) {
    this.of = of;
    this.around = around;
  }
}

const levels = new AsyncLocalStorage<Level>();

export class NestedTransactions {
  readonly #outermost = new Level(this);

  /** @param save sets a savepoint, and ends it when what it runs has ended: the work, and those that the work has begun */
  async run<T>(work: () => Promise<T>, save: (inside: () => Promise<T>) => Promise<T>): Promise<T> {
    const around = levels.getStore();
    const level = this.#levelOf(around);
    const before = level.last;
    const { promise, resolve } = Promise.withResolvers<void>();
    level.last = promise;
    if (before) await before;
    const own = new Level(this, around);
    const inside = async () => {
      try {
        return await work();
      } finally {
        while (own.last) await own.last;
        own.isOver = true; // a savepoint that is set while the end of this one is on its way lies outside of it
      }
    };
    try {
      return await levels.run(own, () => save(inside));
    } finally {
      if (level.last === promise) level.last = undefined;
      resolve();
    }
  }

  /**
   * Waits for those that a handler has begun and not awaited. Half of their rows would be committed, and with one that fails
   * PostgreSQL would undo what follows the handler.
   */
  async settle(): Promise<void> {
    while (this.#outermost.last) await this.#outermost.last;
  }

  /** Code that outlives the nested transaction which it was begun in is outside of it. */
  #levelOf(around: Level | undefined): Level {
    for (let level = around; level; level = level.around) if (level.of === this && !level.isOver) return level;
    return this.#outermost;
  }
}
