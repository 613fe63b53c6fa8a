/**
 * Sends neighbouring calls of a batch that have the same generated function as one statement, since a statement of its own
 * costs a call more than its row. Next hop: `batch.ts` decides which calls.
 */
import type { CrudStatement } from "../contract/crud.ts";
import { preparedName } from "../postgres/packet.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

export interface EachCall {
  statement: CrudStatement;
  values: (string | number | null)[];
}

/**
 * Runs the calls one after the other.
 *
 * @returns the function's JSON of each call; null if one of them failed, and then nothing is written
 */
export async function callEach(
  transaction: RequestTransaction,
  calls: readonly EachCall[],
): Promise<(string | null)[] | null> {
  const send = () => Promise.all(neighbours(calls).map((group) => sendEach(transaction, group)));
  const results = await transaction.savepoint(send, true).catch(() => null);
  return results?.flat() ?? null;
}

function neighbours(calls: readonly EachCall[]): EachCall[][] {
  const groups: EachCall[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last?.[0]?.statement === call.statement) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

async function sendEach(transaction: RequestTransaction, calls: EachCall[]): Promise<(string | null)[]> {
  const [{ statement } = {} as EachCall] = calls;
  const types = statement.each ?? [];
  const names = types.map((_, index) => `a${index}`);
  const given = types.map((_, index) => `$${index + 1}::text[]`).join(", ");
  const cast = names.map((name, index) => `c.${name}::${types[index]}`).join(", ");
  // The functions are volatile: PostgreSQL calls them behind the sort, and each sees what those before it wrote.
  const text =
    `select svc_crud.${statement.function}(${cast})::text as result ` +
    `from unnest(${given}) with ordinality as c (${names.join(", ")}, place) order by c.place`;
  const values = types.map((_, index) => calls.map((call) => call.values[index] ?? null));
  const { rows } = await transaction.query({ name: preparedName(`${statement.function}+each`), text }, values);
  return rows.map(({ result }) => result);
}
