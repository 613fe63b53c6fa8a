/** Articles, favorites, comments and tags. */
import { type Context, requireRow } from "@svc/core";
import { and, arrayContains, asc, count, desc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { z } from "zod";
import { get, post, put, read, remove } from "./runtime.ts";
import { articles, caller, card, comments, favorites, following, profiles } from "./schema.ts";

const range = z.object({ limit: z.coerce.number().max(100).default(20), offset: z.coerce.number().default(0) });
const filters = z.object({ tag: z.string(), author: z.string(), favorited: z.string() }).partial();
const tagList = z.array(z.string()).transform((tags) => tags.sort());
const draft = z.object({ title: z.string(), description: z.string(), body: z.string(), tagList: tagList.optional() });

const author = eq(profiles.userId, articles.userId);

/** Articles as the caller sees them. */
function cards({ db }: Context) {
  const { userId, ...shown } = getTableColumns(articles);
  const likes = eq(favorites.articleId, articles.id);
  const favorited = sql<boolean>`exists (select from ${favorites} where ${and(likes, eq(favorites.userId, caller))})`;
  const columns = { ...shown, favorited, favoritesCount: db.$count(favorites, likes), author: card };
  return db.select(columns).from(articles).innerJoin(profiles, author);
}

async function page(context: Context, { limit, offset }: z.infer<typeof range>, where?: SQL) {
  const rows = await cards(context).where(where).orderBy(desc(articles.id)).limit(limit).offset(offset);
  const all = context.db.select({ count: count() }).from(articles).innerJoin(profiles, author);
  const { count: articlesCount } = requireRow(await all.where(where));
  return { body: { articles: rows.map(({ id, ...article }) => article), articlesCount } };
}

const find = async (context: Context, slug: string) => requireRow(await cards(context).where(eq(articles.slug, slug)));

async function answer(context: Context, slug: string) {
  const { id, ...article } = await find(context, slug);
  return { body: { article } };
}

export const list = read
  .path("/api/articles")
  .input(filters.extend(range.shape))
  .handler(({ context, input: { tag, author, favorited, ...range } }) => {
    const fan = sql`(select user_id from ${profiles} where username = ${favorited})`;
    const liked = context.db.select({ id: favorites.articleId }).from(favorites).where(eq(favorites.userId, fan));
    const byTag = tag === undefined ? undefined : arrayContains(articles.tagList, [tag]);
    const byAuthor = author === undefined ? undefined : eq(profiles.username, author);
    const byFan = favorited === undefined ? undefined : inArray(articles.id, liked);
    return page(context, range, and(byTag, byAuthor, byFan));
  });

export const feed = get
  .path("/api/articles/feed")
  .input(range)
  .handler(({ context, input }) => page(context, input, following));

const path = "/api/articles/:slug";

export const article = read.path(path).handler(({ context, request }) => answer(context, request.params.slug));

const slugOf = (title: string) =>
  `${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-")}-${crypto.randomUUID().slice(0, 8)}`;

export const create = post
  .path("/api/articles")
  .input(z.object({ article: draft }))
  .handler(async ({ context, input: { article } }) => {
    const slug = slugOf(article.title);
    await context.db.insert(articles).values({ ...article, slug });
    return { status: 201, ...(await answer(context, slug)) };
  });

export const update = put
  .path(path)
  .input(z.object({ article: draft.partial() }))
  .handler(async ({ context, input: { article }, request: { params } }) => {
    const { id } = await find(context, params.slug);
    const slug = article.title === undefined ? params.slug : slugOf(article.title);
    const change = context.db.update(articles).set({ ...article, slug, updatedAt: new Date() });
    requireRow(await change.where(eq(articles.id, id)).returning(), "FORBIDDEN"); // the policy: only the author's
    return answer(context, slug);
  });

export const destroy = remove.path(path).handler(async ({ context, request }) => {
  const { id } = await find(context, request.params.slug);
  requireRow(await context.db.delete(articles).where(eq(articles.id, id)).returning(), "FORBIDDEN");
  return { status: 204 };
});

export const favorite = post.path(`${path}/favorite`).handler(async ({ context, request: { params } }) => {
  const { id: articleId } = await find(context, params.slug);
  await context.db.insert(favorites).values({ articleId }).onConflictDoNothing();
  return answer(context, params.slug);
});

export const unfavorite = remove.path(`${path}/favorite`).handler(async ({ context, request: { params } }) => {
  const { id } = await find(context, params.slug);
  await context.db.delete(favorites).where(eq(favorites.articleId, id)); // the policy: only the row of the caller
  return answer(context, params.slug);
});

function commentCards({ db }: Context, where: SQL) {
  const { articleId, userId, ...shown } = getTableColumns(comments);
  const all = db.select({ ...shown, author: card }).from(comments);
  return all.innerJoin(profiles, eq(profiles.userId, userId)).where(where).orderBy(asc(comments.id));
}

export const listComments = read.path(`${path}/comments`).handler(async ({ context, request }) => {
  const { id } = await find(context, request.params.slug);
  return { body: { comments: await commentCards(context, eq(comments.articleId, id)) } };
});

export const addComment = post
  .path(`${path}/comments`)
  .input(z.object({ comment: z.object({ body: z.string() }) }))
  .handler(async ({ context, input, request }) => {
    const { id: articleId } = await find(context, request.params.slug);
    const added = context.db.insert(comments).values({ ...input.comment, articleId });
    const { id } = requireRow(await added.returning());
    return { status: 201, body: { comment: requireRow(await commentCards(context, eq(comments.id, id))) } };
  });

export const removeComment = remove.path(`${path}/comments/:id`).handler(async ({ context, request: { params } }) => {
  await find(context, params.slug);
  const own = context.db.delete(comments).where(eq(comments.id, Number(params.id)));
  requireRow(await own.returning(), "FORBIDDEN");
  return { status: 204 };
});

export const tags = read.path("/api/tags").handler(async ({ context }) => {
  const tag = sql<string>`unnest(${articles.tagList})`.as("tag");
  const rows = await context.db.selectDistinct({ tag }).from(articles).orderBy(asc(tag));
  return { body: { tags: rows.map((row) => row.tag) } };
});
