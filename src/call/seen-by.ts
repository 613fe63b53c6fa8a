/** What a watched query was read from. Next hop: `src/realtime/followed-reads.ts` makes a token of it for the client. */
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { Reads, Seen } from "../realtime/followed-reads.ts";
import { CallContext } from "./create-context.ts";

export const nothingRead: Reads = { tables: [], unpublished: [], bypassing: [], outside: false };

/** The statements of a query share one snapshot. Those of unsafeDb have their own. */
export async function seenBy(transaction: RequestTransaction, context: CallContext): Promise<Seen> {
  const { outside, texts } = CallContext.reads(context);
  if (!transaction.isOpen) return { snapshot: null, reads: { ...nothingRead, outside } };
  const { rows } = await transaction.asLogin(
    { name: "svc_seen", text: "select pg_current_snapshot()::text as snapshot, r.* from svc.tables_read($1) r" },
    [texts],
  );
  const { snapshot, ...tables } = rows[0];
  return { snapshot: outside ? null : snapshot, reads: { ...tables, outside } };
}
