/** Types of related rows: from the arguments of a call to its result, through the generated api.ts. */
import { expectTypeOf, test } from "vitest";
import {
  queryOptions,
  skip,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useSuspenseQuery,
} from "../../client/react/src/index.ts";
import { type ArgumentsOf, createSvcClient, type Query } from "../../client/sdk/src/index.ts";
import { api } from "./blog/api.ts";

const client = createSvcClient({ api, baseUrl: "" });

interface Author {
  id: number;
  handle: string;
  bornAt: Date | null;
}

test("without select and include a row is whole, and has no relations", async () => {
  const { data, total } = await client.query(api.blog_posts.list, { limit: 5 });
  expectTypeOf(data).toEqualTypeOf<{ id: number; slug: string; title: string; authorId: number | null }[]>();
  expectTypeOf(total).toEqualTypeOf<number>();
  expectTypeOf((await client.query(api.blog_posts.list)).data).toEqualTypeOf<typeof data>();
});

test("select and include decide what a row has", async () => {
  const { data } = await client.query(api.blog_posts.list, {
    select: ["slug", "title"],
    include: { author: true, tags: { select: ["name"] }, comments: { limit: 3, orderBy: { deletedAt: "desc" } } },
  });
  const [post] = data;
  if (!post) return;
  expectTypeOf<keyof typeof post>().toEqualTypeOf<"slug" | "title" | "author" | "tags" | "comments">();
  expectTypeOf(post.author).toEqualTypeOf<Author | null>();
  expectTypeOf(post.tags).toEqualTypeOf<{ name: string }[]>();
  expectTypeOf(post.comments[0]?.body).toEqualTypeOf<string | undefined>();
});

test("counts are numbers by relation", async () => {
  const { data } = await client.query(api.blog_posts.list, {
    select: ["slug"],
    include: { author: { select: ["handle"] }, _count: { comments: true, tags: { filters: { name: "red" } } } },
  });
  const [post] = data;
  if (!post) return;
  expectTypeOf(post).toEqualTypeOf<{
    slug: string;
    author: { handle: string } | null;
    _count: { comments: number; tags: number };
  }>();
  // @ts-expect-error one row is not counted
  client.query(api.blog_posts.list, { include: { _count: { author: true } } });
  // @ts-expect-error no such relation, beside one that there is
  client.query(api.blog_posts.list, { include: { _count: { comments: true, nonsense: true } } });
});

test("at every depth", async () => {
  const post = await client.query(api.blog_posts.get, {
    slug: "one",
    include: { comments: { select: ["body"], include: { replies: { include: { post: { select: ["title"] } } } } } },
  });
  expectTypeOf(post?.comments[0]?.replies[0]?.post).toEqualTypeOf<{ title: string } | null | undefined>();
});

test("filters follow relations", () => {
  client.query(api.blog_posts.list, {
    filters: { title: "x", author: { handle: "ann" }, tags: { some: { name: { op: "like", value: "r%" } } } },
  });
  client.query(api.comments.list, { filters: { OR: [{ body: "x" }, { post: { author: { handle: "ann" } } }] } });
  client.query(api.authors.list, { include: { posts: { filters: { tags: { none: { name: "red" } } } } } });
  // @ts-expect-error allowedFilters of authors does not name the id
  client.query(api.blog_posts.list, { filters: { author: { id: 1 } } });
  // @ts-expect-error many rows need some, none or every
  client.query(api.blog_posts.list, { filters: { tags: { name: "red" } } });
  // @ts-expect-error a get has no filters
  client.query(api.blog_posts.get, { id: 1, filters: { title: "x" } });
});

test("get takes the keys that getBy declares", () => {
  client.query(api.editions.get, { book: "a", number: 1 });
  client.query(api.authors.get, { handle: "ann" });
  // @ts-expect-error both columns of the constraint
  client.query(api.editions.get, { book: "a" });
  // @ts-expect-error not a unique column
  client.query(api.blog_posts.get, { title: "x" });
});

test("what the resource does not have is refused", async () => {
  // @ts-expect-error no such relation
  client.query(api.blog_posts.list, { include: { writer: true } });
  // @ts-expect-error no such relation, beside one that there is
  client.query(api.blog_posts.list, { include: { author: true, writer: true } });
  // @ts-expect-error callers do not see this column
  client.query(api.blog_posts.list, { select: ["slug", "editorId"] });
  // @ts-expect-error nor of a related row
  client.query(api.blog_posts.list, { include: { author: { select: ["email"] } } });
  // @ts-expect-error a single row has no limit
  client.query(api.blog_posts.list, { include: { author: { limit: 1 } } });
  const three = { posts: { include: { author: { include: { posts: { select: ["title"] } } } } } } as const;
  client.query(api.authors.list, { include: three });
  const four = { posts: { include: { author: { include: { posts: { include: { tags: true } } } } } } } as const;
  // @ts-expect-error four relations below each other
  client.query(api.authors.list, { include: four });
  const args = { limit: 5, include: { author: { select: ["handle"] } } } as const;
  expectTypeOf((await client.query(api.blog_posts.list, args)).data[0]?.author).toEqualTypeOf<
    { handle: string } | null | undefined
  >();
  // @ts-expect-error prints has no include of its own that is named so
  client.query(api.prints.list, { include: { edition: true } });
});

test("what is watched has the same types", () => {
  client.watch(api.authors.list, { include: { posts: { select: ["title"] } } }, ({ data }) => {
    expectTypeOf(data[0]?.posts).toEqualTypeOf<{ title: string }[] | undefined>();
  });
});

test("so have the hooks", () => {
  const { data } = useQuery(api.blog_posts.list, { select: ["slug"], include: { author: { select: ["handle"] } } });
  expectTypeOf(data?.data).toEqualTypeOf<{ slug: string; author: { handle: string } | null }[] | undefined>();
  expectTypeOf(useQuery(api.blog_posts.list).data?.data[0]?.title).toEqualTypeOf<string | undefined>();
  const { data: one } = useSuspenseQuery(api.authors.get, { handle: "ann", include: { posts: true } });
  expectTypeOf(one?.posts[0]?.slug).toEqualTypeOf<string | undefined>();
  useQuery(api.authors.get, skip);
  // @ts-expect-error no such relation
  useQuery(api.blog_posts.list, { include: { writer: true } });
});

test("an infinite list and a prefetched query have them too", async () => {
  const { data } = useInfiniteQuery(api.blog_posts.list, {
    select: ["slug"],
    include: { author: { select: ["handle"] }, _count: { comments: true } },
    filters: { author: { handle: "ann" } },
    limit: 5,
  });
  expectTypeOf(data?.pages[0]?.data[0]).toEqualTypeOf<
    { slug: string; author: { handle: string } | null; _count: { comments: number } } | undefined
  >();
  expectTypeOf(data?.pages[0]?.nextCursor).toEqualTypeOf<string | null | undefined>();
  const { data: whole } = useInfiniteQuery(api.blog_posts.list, { limit: 5 });
  expectTypeOf(whole?.pages[0]?.data[0]?.title).toEqualTypeOf<string | undefined>();
  useInfiniteQuery(api.blog_posts.list, skip);
  // @ts-expect-error -- the hook sets the cursor
  useInfiniteQuery(api.blog_posts.list, { include: { author: true }, cursor: null });
  // @ts-expect-error -- no such relation
  useInfiniteQuery(api.blog_posts.list, { include: { writer: true } });
  // @ts-expect-error -- one row has no pages
  useInfiniteQuery(api.blog_posts.get, { id: 1, include: { author: true } });

  const options = queryOptions(client, api.blog_posts.get, { id: 1, select: ["title"], include: { author: true } });
  expectTypeOf(await options.queryFn()).toEqualTypeOf<{ title: string; author: Author | null } | null>();
});

test("groupBy and measures of an aggregate decide what its groups have", async () => {
  const { data, hasMore } = await client.query(api.prints.aggregate, {
    groupBy: ["book"],
    measures: ["count", "max:copies"],
    filters: { editions: {}, copies: { op: "gt", value: 1 } },
    orderBy: { count: "desc" },
  });
  expectTypeOf(data).toEqualTypeOf<{ book: string | null; count: number; "max:copies": number | null }[]>();
  expectTypeOf(hasMore).toEqualTypeOf<boolean>();
  const whole = await client.query(api.prints.aggregate, { measures: ["sum:copies"] });
  expectTypeOf(whole.data).toEqualTypeOf<{ "sum:copies": string | null }[]>();
  client.watch(api.prints.aggregate, { measures: ["count"] }, (groups) => {
    expectTypeOf(groups.data).toEqualTypeOf<{ count: number }[]>();
  });
  const options = queryOptions(client, api.prints.aggregate, { measures: ["count"] });
  expectTypeOf((await options.queryFn()).data).toEqualTypeOf<{ count: number }[]>();
  expectTypeOf(useSuspenseQuery(api.prints.aggregate, { measures: ["count"] }).data.data).toEqualTypeOf(groups());
  const { data: found } = useQuery(api.prints.aggregate, { groupBy: ["number"], measures: ["count"] });
  expectTypeOf(found?.data[0]).toEqualTypeOf<{ number: number | null; count: number } | undefined>();
  useQuery(api.prints.aggregate, skip);
});
const groups = (): { count: number }[] => [];

test("what an aggregate may be asked only at run time may be missing", async () => {
  const by = (["book", "number"] as const)[Math.floor(Math.random() * 2)] ?? "book";
  const { data } = await client.query(api.prints.aggregate, { groupBy: [by], measures: ["count"] });
  expectTypeOf(data).toEqualTypeOf<{ count: number; book?: string | null; number?: number | null }[]>();
  const measures: ("count" | "max:copies")[] = [];
  const listed = await client.query(api.prints.aggregate, { measures });
  expectTypeOf(listed.data).toEqualTypeOf<{ count?: number; "max:copies"?: number | null }[]>();
});

test("an aggregate that the resource does not offer is refused", () => {
  // @ts-expect-error not a measure of the option
  client.query(api.prints.aggregate, { measures: ["count", "min:copies"] });
  // @ts-expect-error not a group of the option
  useQuery(api.prints.aggregate, { groupBy: ["copies"], measures: ["count"] });
  // @ts-expect-error measures are required
  client.query(api.prints.aggregate, { groupBy: ["book"] });
  // @ts-expect-error misspelt
  client.query(api.prints.aggregate, { measures: ["count"], timezone: "Europe/Berlin" });
  // @ts-expect-error groups have no pages
  useInfiniteQuery(api.prints.aggregate, { measures: ["count"] });
});

test("an optimistic change has the types of the call whose result it changes", () => {
  useMutation(api.blog_posts.update, {
    optimistic(cache, { title = "" }) {
      const args = { slug: "one", include: { tags: { select: ["name"] } } } as const;
      expectTypeOf(cache.get(api.blog_posts.get, args)?.tags).toEqualTypeOf<{ name: string }[] | undefined>();
      cache.update(api.blog_posts.get, args, (post) => post && { ...post, title, tags: [{ name: "red" }] });
      cache.update(api.blog_posts.list, { limit: 5 }, (page) => ({ ...page, total: page.total + 1 }));
      // @ts-expect-error no such relation
      cache.update(api.blog_posts.list, { include: { writer: true } }, (page) => page);
      // @ts-expect-error tags have names
      cache.update(api.blog_posts.get, args, (post) => post && { ...post, tags: [{ name: 1 }] });
    },
  });
});

test("arguments may be those of a variable or missing, and a function may pass them on", async () => {
  const isShort = Math.random() < 0.5;
  const { data } = await client.query(api.blog_posts.list, isShort ? { select: ["slug"] } : undefined);
  expectTypeOf(data).toEqualTypeOf<{ slug: string }[]>();
  const args: ArgumentsOf<typeof api.blog_posts.list> = { limit: 5, include: { author: true } };
  useQuery(api.blog_posts.list, args);
  const useAny = <Q extends Query>(operation: Q, args: ArgumentsOf<Q>) => useSuspenseQuery(operation, args).data;
  expectTypeOf(useAny(api.prints.list, { limit: 5 }).total).toEqualTypeOf<number>();
});
