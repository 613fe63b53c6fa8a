/**
 * Search lab: what a viewer finds, and why in this order. The rows are those of `ctx.search`, in the viewer's own
 * transaction; the terms are explained for these rows alone.
 * Next hop: `sql/search/search_keyword.sql`, `sql/studio/studio_match.sql`.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { panel } from "./panel.ts";
import { beginnings } from "./rows.ts";
import { viewAs, viewer } from "./view.ts";

const visibilities = ["public", "shared", "private"] as const;
const most = 20;

const input = z.strictObject({
  table: z.string().min(1).max(200),
  as: viewer,
  query: z.string().min(1).max(1_000),
  corpus: z.string().min(1).max(200).default("default"),
  visibility: z.enum(visibilities).nullable().default(null),
  prefix: z.boolean().default(false),
});

interface Searchable {
  name: string;
  /** Its name in Data. */
  relation: string;
  fields: string[];
  always: string | null;
}

export const searchPanels = {
  searchable: panel(z.strictObject({}), (_, { ask }) => ask("select * from svc_private.studio_searchable()")),
  search: panel(input, async ({ table, as, query, corpus, visibility: asked, prefix }, { ask, read }) => {
    const all: Searchable[] = await ask("select * from svc_private.studio_searchable()");
    const found = all.find(({ relation }) => relation === table);
    if (!found) {
      const names = all.map(({ relation }) => relation);
      throw new SvcError("NOT_FOUND", `${table} is not searchable.`, {
        hint: names.length > 0 ? `Searchable are ${names.join(", ")}.` : "No table is searchable.",
      });
    }
    const { name, fields, always } = found;
    const visibility = asked ?? always ?? "public";
    if (visibility === "private" && as === null) {
      throw new SvcError("BAD_REQUEST", "Private rows are searched as their owner.", { hint: "View as a user." });
    }
    return viewAs(read, as, async (transaction) => {
      const began = performance.now();
      const target = JSON.stringify({ table: name });
      const scope = JSON.stringify({ corpus, visibility, owner: null });
      const { rows } = await transaction.query(
        { text: "select id, score from svc.search_keyword($1, $2, $3, $4, '[]', $5, 0, $6)" },
        [target, fields, query, scope, most, prefix],
      );
      const ms = Math.round(performance.now() - began);
      const ids = rows.map(({ id }) => id);
      const terms = await transaction.asLogin(
        { text: "select * from svc_private.studio_match($1, $2, $3, $4, $5, $6, $7)" },
        [name, query, corpus, visibility, as, prefix, ids],
      );
      const texts = await beginnings(transaction, { table, as }, fields, ids);
      const found = rows.map(({ id, score }) => ({ id, score, text: texts.get(id) ?? null }));
      return { visibility, fields, ms, rows: found, terms: terms.rows };
    });
  }),
};
