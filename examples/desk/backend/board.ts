/** The public board and the guest book: tables that people without an account can read. */
import { desc } from "drizzle-orm";
import { createCrud, httpRoute } from "./runtime.ts";
import { guestbook, posts } from "./schema.ts";

export const postsCrud = createCrud(posts, { allowAnonymous: true });
export const guestbookCrud = createCrud(guestbook, {
  allowAnonymous: true,
  hooks: {
    beforeCreate: async (entry, { context: ctx }) => {
      await ctx.rateLimit("guestbook", { calls: 20, per: "10 minutes" });
      return entry;
    },
  },
});

/** The board as plain text, for a terminal: `curl …/api/board.txt`. */
export const boardText = httpRoute.get
  .path("/api/board.txt")
  .allowAnonymous()
  .handler(async ({ context: ctx }) => {
    const rows = await ctx.db.select({ title: posts.title }).from(posts).orderBy(desc(posts.createdAt)).limit(20);
    return { body: rows.map(({ title }) => `* ${title}\n`).join("") };
  });

/** Says hello, to show a path parameter. */
export const hello = httpRoute.get
  .path("/api/hello/:name")
  .allowAnonymous()
  .handler(({ request }) => ({ body: { hello: request.params.name } }));
