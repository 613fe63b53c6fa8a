/**
 * Audit and Webhooks: what changed in audited tables, and what leaves.
 * Next hop: `sql/studio/studio_audit.sql`, `studio_history_key.sql`, `studio_webhooks.sql`, `studio_deliveries.sql`.
 */
import { z } from "zod";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { most, pageOf } from "./pages.ts";
import { panel } from "./panel.ts";
import { columnsOf, keyOf, seenBy } from "./rows.ts";
import { type Viewer, viewAs, viewer } from "./view.ts";

/** Characters of a value. */
const shortValue = 400;

const name = z.string().min(1).max(200);
const place = z.string().regex(/^\d{1,18}$/);

const changes = z.strictObject({
  table: name.nullable(),
  /** Of a row of the table: the values of its primary key, as Data has them. */
  key: z.array(z.string().max(10_000)).min(1).max(32).nullable(),
  /** The same as an entry has it. */
  row: z.string().max(10_000).nullable(),
  /** Whose values of the row are shown. */
  as: viewer,
  before: place.nullable(),
});

const deliveries = z.strictObject({
  state: z.enum(["dead", "pending", "sent"]),
  webhook: name.nullable(),
  before: z.strictObject({ end: z.iso.datetime({ offset: true }).nullable(), sequence: place }).nullable(),
});

/** Cuts the values of `changed`. */
const values = `select h.id, (
    select jsonb_object_agg(c.key, case when c.value <> 'null'
             then jsonb_build_array(left(c.value ->> 0, ${shortValue}), left(c.value ->> 1, ${shortValue})) end)
      from jsonb_each(h.changed) c) as changed
  from svc.row_history($1, $2, $3, $4) h`;

export const auditPanels = {
  audit: panel(changes, ({ table, key, row, as, before }, { read }) =>
    viewAs(read, as, async (transaction) => {
      const known = key && table ? await transaction.asLogin({ text: keyText }, [table, key]) : null;
      // A removed row is found by its entries alone.
      const rowId: string | null = row ?? known?.rows[0].key ?? (key?.length === 1 ? key[0] : null) ?? null;
      if (key && rowId === null) return { entries: [], next: null, row: null };
      const text = "select * from svc_private.studio_audit($1, $2, $3, $4)";
      const { rows } = await transaction.asLogin({ text }, [table, rowId, before, most + 1]);
      const { rows: entries, next } = pageOf(rows, ({ id }) => id);
      const { relation, audited } = entries[0] ?? {};
      const seen =
        rowId !== null && audited && (await selectsKey(transaction, relation, as))
          ? await transaction.query({ text: values }, [relation, rowId, before, most])
          : null;
      const changed = new Map(seen?.rows.map(({ id, changed }) => [id, changed]));
      return {
        entries: entries.map((entry: { id: string }) => ({ ...entry, changed: changed.get(entry.id) ?? null })),
        next,
        row: rowId,
      };
    }),
  ),
  webhooks: panel(
    z.strictObject({}),
    async (_, { ask }) => (await ask("select svc_private.studio_webhooks() as found"))[0].found,
  ),
  deliveries: panel(deliveries, async ({ state, webhook, before }, { ask }) => {
    // As JSON: the time of the last row is the key of the next page, to the microsecond.
    const text = "select to_jsonb(d) as delivery from svc_private.studio_deliveries($1, $2, $3, $4, $5) d";
    const values = [state, webhook, before?.end ?? null, before?.sequence ?? null, most + 1];
    const found = (await ask(text, values)).map(({ delivery }) => delivery);
    const { rows, next } = pageOf(found, (last) => ({ end: last.ended_at, sequence: String(last.sequence) }));
    return { deliveries: rows, next };
  }),
};

/** Without it the table could not be asked whether the viewer sees the row. */
const selectsKey = async (transaction: RequestTransaction, table: string, as: Viewer): Promise<boolean> =>
  keyOf(await columnsOf(transaction, table)).every(seenBy(as));

const keyText = "select svc_private.studio_history_key($1, $2) as key";
