/**
 * Reads for calls that then wait for other services: no transaction and no connection is held meanwhile.
 * Next hop: `src/postgres/transaction.ts`.
 */
import type { RequestTransaction } from "./transaction.ts";

export type Reading<T> = (reader: RequestTransaction) => Promise<T>;

/** Reads in the call's transaction if it is open, since it may have written the rows; otherwise in a separate transaction. */
export const readerOfCall =
  (transaction: RequestTransaction, readTransaction: () => RequestTransaction) =>
  <T>(work: Reading<T>): Promise<T> =>
    transaction.isOpen || transaction.isOver ? work(transaction) : readInOwnTransaction(readTransaction(), work);

/** The same for work that continues after the call, such as a stream that the handler returned. */
export const readerBeyondCall =
  (transaction: RequestTransaction, readTransaction: () => RequestTransaction) =>
  <T>(work: Reading<T>): Promise<T> =>
    transaction.isOpen && !transaction.isOver ? work(transaction) : readInOwnTransaction(readTransaction(), work);

/** Reads in a separate transaction, from `work`'s first statement to its end. */
export async function readInOwnTransaction<T>(own: RequestTransaction, work: Reading<T>): Promise<T> {
  try {
    const result = await work(own);
    await own.commit();
    return result;
  } catch (error) {
    await own.rollback();
    throw own.explain(error);
  }
}
