/**
 * Code of an author who only knows the service's OpenAPI document: the test generates the types in `.svc/api.d.ts` from
 * it, then compiles and runs this file.
 */
import createClient from "openapi-fetch";
import type { components, paths } from "./.svc/api.d.ts";

/** Fails to compile unless the two are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;

export async function calls(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const email = `client-${crypto.randomUUID()}@example.com`;
  const signUp = await client.POST("/api/auth/sign-up", { body: { email, password: "correct horse", name: "Ann" } });
  if (!signUp.data) throw new Error(signUp.error.error);
  const { token, user } = signUp.data;
  client.use({
    onRequest({ request }) {
      request.headers.set("authorization", `Bearer ${token}`);
    },
  });

  const created = await client.POST("/api/mutation/articles.create", {
    body: { args: { title: "first", priority: 2 } },
  });
  const article: components["schemas"]["articles.Row"] | undefined = created.data?.json;
  if (!article) throw new Error(created.error?.error);
  const listed = await client.POST("/api/query/articles.list", {
    body: { args: { limit: 5, orderBy: "priority", filters: { priority: { op: "gte", value: 2 } } } },
  });
  const total: number | undefined = listed.data?.json.total;
  const title: Same<typeof article.title, string> = true;
  const counted: Same<components["schemas"]["samples.Row"]["aBigint"], string | null> = true;

  // @ts-expect-error: no such column
  const wrong = await client.POST("/api/mutation/notes.create", { body: { args: { titel: "x" } } });
  const sum = await client.POST("/api/query/sums.add", { body: { args: { a: 1, b: 2 } } });
  const hello = await client.GET("/api/hello/{name}", { params: { path: { name: "ab" }, query: { times: 2 } } });
  const tree = await client.POST("/api/mutation/trees.plant", {
    body: { args: { tree: { label: "root", children: [{ label: "leaf" }] } } },
  });
  const leaf: string | undefined = tree.data?.json.children?.[0]?.label;
  const refused = await client.POST("/api/mutation/sums.refuse", { body: {} });

  const tag = await client.POST("/api/mutation/tags.create", { body: { args: { name: "red" } } });
  await client.POST("/api/mutation/authors.create", { body: { args: { handle: "ann" } } });
  const post = await client.POST("/api/mutation/blog_posts.create", {
    body: { args: { slug: "one", title: "The first", authorId: 1 } },
  });
  const related = await client.POST("/api/query/blog_posts.list", {
    body: {
      args: {
        select: ["slug"],
        include: {
          author: { select: ["handle"], include: { posts: { select: ["title"] } } },
          tags: { orderBy: { name: "asc" } },
        },
        filters: { author: { handle: "ann" }, tags: { none: { name: "blue" } } },
      },
    },
  });
  const [first] = related.data?.json.data ?? [];
  // Without asking which members a row has: generated code does not.
  const shaped = {
    slug: first?.slug,
    author: first?.author?.handle,
    titles: first?.author?.posts?.map(({ title }) => title),
    tags: first?.tags,
  };
  const counts = await client.POST("/api/query/authors.aggregate", {
    body: { args: { groupBy: ["bornAt:day"], measures: ["count"] } },
  });
  const count: string | number | boolean | null | undefined = counts.data?.json.data[0]?.count;
  const bySlug = await client.POST("/api/query/blog_posts.get", {
    body: { args: { slug: "one", include: { comments: true } } },
  });
  // @ts-expect-error: no such column
  const unselected = await client.POST("/api/query/blog_posts.list", { body: { args: { select: ["titel"] } } });
  const measured = await client.POST("/api/mutation/files.measure", {
    // The generator's type of a file is a string.
    body: { data: JSON.stringify({ json: { args: { note: "x" } } }), file: new Blob(["four"]) as unknown as string },
    bodySerializer(body) {
      const form = new FormData();
      for (const [name, value] of Object.entries(body)) form.append(name, value);
      return form;
    },
  });
  const gone = await client.POST("/api/query/notes.get", { body: { args: { id: 2_000_000_000 } } });
  return {
    user: user.email === email,
    article,
    total,
    types: [title, counted],
    wrong: wrong.error?.issues,
    sum: sum.data?.json.sum,
    hello: hello.data?.hello,
    leaf,
    refused: refused.error?.code,
    measured: measured.data?.json,
    gone: gone.data?.json,
    made: [tag.response.status, post.response.status],
    shaped,
    count,
    bySlug: bySlug.data?.json,
    unselected: unselected.error?.issues,
  };
}
