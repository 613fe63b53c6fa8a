/** Pages of rows that are ordered by their time, the newest first. */
import { z } from "zod";

/** Rows of a page. */
export const most = 50;

/** @param found one row more than a page has, if there are more @param placeOf the place after which the next page begins */
export function pageOf<Row, Place>(found: readonly Row[], placeOf: (last: Row) => Place) {
  const rows = found.slice(0, most);
  const last = rows.at(-1);
  return { rows, next: found.length > most && last ? placeOf(last) : null };
}

/**
 * The last row of a page: its time, to the microsecond, and its id, because one transaction makes rows of one time. As text, so that
 * an address can have it; those of earlier versions had the time alone.
 */
export const place = z
  .string()
  .max(300)
  .transform((text) => {
    const [at, ...id] = text.split(" ");
    return { at, id: id.join(" ") || null };
  })
  .pipe(z.object({ at: z.iso.datetime({ offset: true }), id: z.string().nullable() }))
  .nullable();

/** @param ask calls a function of SQL with these as its last arguments, and gives its rows as JSON */
export async function newestFirst(
  { at = null, id = null }: { at?: string | null; id?: string | null },
  ask: (...last: [at: string | null, id: string | null, most: number]) => Promise<{ id: string; created_at: string }[]>,
) {
  return pageOf(await ask(at, id, most + 1), (last) => `${last.created_at} ${last.id}`);
}
