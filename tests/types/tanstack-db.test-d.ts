/** Types from the query and the mutations of a resource to its collection. */
import { createCollection, eq, useLiveQuery } from "@tanstack/react-db";
import { expectTypeOf, test } from "vitest";
import { createAuthClient, createSvcClient, type Mutation, type Query } from "../../client/sdk/src/index.ts";
import { createOutbox, svcCollectionOptions } from "../../client/tanstack-db/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { api as blog } from "./blog/api.ts";

const client = createSvcClient({ api, baseUrl: "", auth: createAuthClient("") });
const outbox = createOutbox(client);
declare const mine: {
  list: Query<{ room: string }, { at: Date; name: string }[]>;
  add: Mutation<{ called: string }, void>;
};

test("rows are those of the query", () => {
  const notes = createCollection(
    svcCollectionOptions({
      client,
      outbox,
      query: api.notes.list,
      getKey: ({ id }) => id,
      insert: api.notes.create,
      update: api.notes.update,
      remove: api.notes.remove,
    }),
  );
  expectTypeOf(notes.get(7)?.createdAt).toEqualTypeOf<Date | undefined>();
  expectTypeOf(notes.get(7)?.title).toEqualTypeOf<string | undefined>();
  // @ts-expect-error the key is a number
  notes.get("7");
  notes.update(7, (draft) => {
    // @ts-expect-error a title is text
    draft.title = 7;
  });
  // @ts-expect-error a row is a whole one
  notes.insert({ title: "x" });
  const { data } = useLiveQuery((q) => q.from({ note: notes }).where(({ note }) => eq(note.done, false)));
  expectTypeOf(data[0]?.priority).toEqualTypeOf<number | undefined>();
});

test("rows of a query that selects and includes have what it asks for", () => {
  const options = svcCollectionOptions({
    client,
    query: blog.blog_posts.list,
    args: { select: ["id", "title"], include: { author: true } },
    getKey: ({ id }) => id,
  });
  const posts = createCollection(options);
  expectTypeOf(posts.toArray[0]?.title).toEqualTypeOf<string | undefined>();
  // @ts-expect-error it is not selected
  posts.toArray[0]?.slug;
});

test("queries and mutations of the application's own", () => {
  const rows = createCollection(
    svcCollectionOptions({
      client,
      outbox,
      query: mine.list,
      args: { room: "a" },
      getKey: ({ name }) => name,
      insert: { mutation: mine.add, args: ({ row }) => ({ called: row.name }) },
    }),
  );
  expectTypeOf(rows.get("a")?.at).toEqualTypeOf<Date | undefined>();
  const common = { client, outbox, query: mine.list, args: { room: "a" }, getKey: (row: { name: string }) => row.name };
  // @ts-expect-error a row has no `called`
  svcCollectionOptions({ ...common, insert: mine.add });
  // @ts-expect-error nor does the function give one
  svcCollectionOptions({ ...common, insert: { mutation: mine.add, args: () => ({}) } });
  // @ts-expect-error a query is no mutation
  svcCollectionOptions({ ...common, insert: mine.list });
  // @ts-expect-error the query needs its room
  svcCollectionOptions({ ...common, args: {} });
});
