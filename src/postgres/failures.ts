/** The errors of one transaction. Used by `transaction.ts`. */
import type { SvcError } from "../kit/svc-error.ts";
import type { Access } from "./access.ts";
import { databaseError, noteStatement } from "./errors.ts";
import type { Identity } from "./identity.ts";

export const usedLate =
  "ctx.db was used after its call had ended: await every statement before the handler returns; " +
  "in the body of a stream, read with ctx.read((db) => …).";

export const callHasEnded = "its call has ended. Use the context that the handler is given, and keep none.";

export const usedElsewhere =
  "The context of one call was used in another call, which would act as the user of the first one. Use the context that the handler " +
  "is given, and keep none. If a queue or lock that calls share runs this, bind it: queue.add(AsyncLocalStorage.bind(work)).";

export class Failures {
  /** Errors of later statements only follow from it. */
  first: unknown;
  /** Most transactions have none. */
  #all: WeakSet<object> | undefined;
  readonly #identity: Identity;
  readonly #access: Access;

  constructor(identity: Identity, access: Access) {
    this.#identity = identity;
    this.#access = access;
  }

  /** An error of a statement, which may be sent again. */
  add(error: unknown, text: string): void {
    this.#own(noteStatement(error, text));
  }

  /** An error that ends the transaction. */
  note(error: unknown): void {
    this.first ??= error;
    this.#own(Object(error));
  }

  #own(error: object): void {
    this.#all ??= new WeakSet();
    this.#all.add(error);
  }

  /** For the caller: the first error, or the given one. */
  refusal(error: unknown): SvcError {
    return databaseError(this.first ?? error, this.#identity, this.#access);
  }

  /** The error that the caller may see: errors of statements go through the SQLSTATE map, others stay unchanged. */
  explain(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    const own = [error, error.cause].find((one) => this.#all?.has(Object(one)));
    return own === undefined ? error : this.refusal(own);
  }
}
