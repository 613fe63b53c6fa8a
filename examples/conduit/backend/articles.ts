/** Articles, favorites, comments and tags. */
import { type Context, SvcError } from "@svc/core";
import { and, arrayContains, asc, desc, eq, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { get, post, put, remove } from "./runtime.ts";
import { articleCards, articles, commentCards, comments, favorites } from "./schema.ts";

const range = z.object({ limit: z.coerce.number().max(100).default(20), offset: z.coerce.number().default(0) });
const filters = z.object({ tag: z.string(), author: z.string(), favorited: z.string() }).partial();
const draft = z.object({
  title: z.string(),
  description: z.string(),
  body: z.string(),
  tagList: z
    .array(z.string())
    .transform((tags) => tags.sort())
    .optional(),
});

async function page({ db }: Context, { limit, offset }: z.infer<typeof range>, where?: SQL) {
  const newest = db.select().from(articleCards).where(where).orderBy(desc(articleCards.id));
  const rows = await newest.limit(limit).offset(offset);
  return {
    body: { articles: rows.map(({ article }) => article), articlesCount: await db.$count(articleCards, where) },
  };
}

async function find({ db }: Context, slug: string) {
  const [card] = await db.select().from(articleCards).where(eq(articleCards.slug, slug));
  if (!card) throw new SvcError("NOT_FOUND");
  return card;
}

const answer = async (context: Context, slug: string) => ({ body: { article: (await find(context, slug)).article } });

export const list = get
  .path("/api/articles")
  .allowAnonymous()
  .input(filters.extend(range.shape))
  .handler(({ context, input: { tag, author, favorited, ...range } }) => {
    const byTag = tag === undefined ? undefined : arrayContains(articleCards.tagList, [tag]);
    const byAuthor = author === undefined ? undefined : eq(articleCards.author, author);
    const byFan = favorited === undefined ? undefined : arrayContains(articleCards.fans, [favorited]);
    return page(context, range, and(byTag, byAuthor, byFan));
  });

export const feed = get
  .path("/api/articles/feed")
  .input(range)
  .handler(({ context, input }) => page(context, input, eq(articleCards.following, true)));

const path = "/api/articles/:slug";

export const show = get
  .path(path)
  .allowAnonymous()
  .handler(({ context, request }) => answer(context, request.params.slug));

const slugOf = (title: string) =>
  `${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-")}-${crypto.randomUUID().slice(0, 8)}`;

export const create = post
  .path("/api/articles")
  .input(z.object({ article: draft }))
  .handler(async ({ context, input }) => {
    const slug = slugOf(input.article.title);
    await context.db.insert(articles).values({ ...input.article, slug, userId: context.auth.requireAuth().user.id });
    return { status: 201, ...(await answer(context, slug)) };
  });

/** Everyone sees an article; the policies let its author alone change it. */
async function refuse(context: Context, slug: string): Promise<never> {
  await find(context, slug);
  throw new SvcError("FORBIDDEN");
}

export const update = put
  .path(path)
  .input(z.object({ article: draft.partial() }))
  .handler(async ({ context, input: { article }, request: { params } }) => {
    const slug = article.title === undefined ? params.slug : slugOf(article.title);
    const change = context.db.update(articles).set({ ...article, slug, updatedAt: new Date() });
    const changed = await change.where(eq(articles.slug, params.slug)).returning({ id: articles.id });
    return changed.length === 0 ? refuse(context, params.slug) : answer(context, slug);
  });

export const destroy = remove.path(path).handler(async ({ context, request: { params } }) => {
  const gone = await context.db.delete(articles).where(eq(articles.slug, params.slug)).returning({ id: articles.id });
  return gone.length === 0 ? refuse(context, params.slug) : { status: 204 };
});

export const favorite = post.path(`${path}/favorite`).handler(async ({ context, request: { params } }) => {
  const { id: articleId } = await find(context, params.slug);
  const { user } = context.auth.requireAuth();
  await context.db.insert(favorites).values({ userId: user.id, articleId }).onConflictDoNothing();
  return answer(context, params.slug);
});

export const unfavorite = remove.path(`${path}/favorite`).handler(async ({ context, request: { params } }) => {
  const { id } = await find(context, params.slug);
  await context.db.delete(favorites).where(eq(favorites.articleId, id)); // the policy: only the row of the caller
  return answer(context, params.slug);
});

export const listComments = get
  .path(`${path}/comments`)
  .allowAnonymous()
  .handler(async ({ context, request: { params } }) => {
    const { id } = await find(context, params.slug);
    const cards = context.db.select().from(commentCards).where(eq(commentCards.articleId, id));
    return { body: { comments: (await cards.orderBy(asc(commentCards.id))).map(({ comment }) => comment) } };
  });

export const addComment = post
  .path(`${path}/comments`)
  .input(z.object({ comment: z.object({ body: z.string() }) }))
  .handler(async ({ context, input, request: { params } }) => {
    const { id: articleId } = await find(context, params.slug);
    const row = { ...input.comment, articleId, userId: context.auth.requireAuth().user.id };
    const [added] = await context.db.insert(comments).values(row).returning();
    const [card] = await context.db
      .select()
      .from(commentCards)
      .where(eq(commentCards.id, added?.id ?? 0));
    return { status: 201, body: { comment: card?.comment } };
  });

export const removeComment = remove.path(`${path}/comments/:id`).handler(async ({ context, request: { params } }) => {
  const gone = await context.db
    .delete(comments)
    .where(eq(comments.id, Number(params.id)))
    .returning();
  return gone.length === 0 ? refuse(context, params.slug) : { status: 204 };
});

export const tags = get
  .path("/api/tags")
  .allowAnonymous()
  .handler(async ({ context }) => {
    const tag = sql<string>`unnest(${articles.tagList})`.as("tag");
    const rows = await context.db.selectDistinct({ tag }).from(articles).orderBy(asc(tag));
    return { body: { tags: rows.map((row) => row.tag) } };
  });
