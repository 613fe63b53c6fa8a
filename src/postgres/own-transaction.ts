/**
 * Reads of a call that goes on to wait for others: no transaction, and no connection, is held meanwhile.
 * Next hop: `src/postgres/transaction.ts`.
 */
import type { RequestTransaction } from "./transaction.ts";

export type Reading<T> = (reader: RequestTransaction) => Promise<T>;

/**
 * Reads in the call's transaction where it is open, which may have written what is read; and in one of its own otherwise.
 */
export const readingAside =
  (transaction: RequestTransaction, aside: () => RequestTransaction) =>
  <T>(work: Reading<T>): Promise<T> =>
    transaction.isOpen || transaction.isOver ? work(transaction) : readApart(aside(), work);

/** The same for what goes on when the call is over, as a stream that its handler has returned. */
export const readingOn =
  (transaction: RequestTransaction, aside: () => RequestTransaction) =>
  <T>(work: Reading<T>): Promise<T> =>
    transaction.isOpen && !transaction.isOver ? work(transaction) : readApart(aside(), work);

/** Reads in a transaction of its own, from `work`'s first statement to its end. */
export async function readApart<T>(own: RequestTransaction, work: Reading<T>): Promise<T> {
  try {
    const result = await work(own);
    await own.commit();
    return result;
  } catch (error) {
    await own.rollback();
    throw own.explain(error);
  }
}
