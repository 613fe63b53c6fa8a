/** Types from the schema's declaration to the SDK's results, through the generated api.ts. */

import type { TestUser } from "@svc/testing";
import { expectTypeOf, test } from "vitest";
import { WebSocket as Ws } from "ws";
import {
  createSvcClient,
  type InputOf,
  type OutputOf,
  type Query,
  type SvcClient,
} from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";

const client = createSvcClient({ api, baseUrl: "" });

test("a list gives rows with their columns' own types", async () => {
  const page = await client.query(api.samples.list, { limit: 5 });
  const [row] = page.data;
  if (!row) return;
  expectTypeOf(page.total).toEqualTypeOf<number>();
  expectTypeOf(row.aBigint).toEqualTypeOf<bigint | null>();
  expectTypeOf(row.aNumeric).toEqualTypeOf<string | null>();
  expectTypeOf(row.aBoolean).toEqualTypeOf<boolean | null>();
  expectTypeOf(row.id).toEqualTypeOf<string>();
});

test("arguments may be left out exactly where the operation allows it", () => {
  client.query(api.notes.list);
  // @ts-expect-error get needs the id
  client.query(api.notes.get);
  // @ts-expect-error a serial id is a number
  client.query(api.notes.get, { id: "1" });
  // @ts-expect-error the title is required
  client.mutate(api.notes.create, { done: true });
  // @ts-expect-error the owner is not the caller's to choose
  client.mutate(api.notes.create, { title: "x", userId: "someone" });
});

test("a query without input is watched with undefined, as docs/how-to/live-pages.md shows", () => {
  const newest = { name: "articles.newest", kind: "query" } as Query<undefined, { id: number }[]>;
  client.watch(newest, undefined, (rows) => expectTypeOf(rows).toEqualTypeOf<{ id: number }[]>());
  // @ts-expect-error it takes no input
  client.watch(newest, {}, () => {});
});

test("a batch has the arguments and results of its mutations", async () => {
  const [note, sample] = await client.batch([
    [api.notes.create, { title: "x" }],
    [api.samples.create, {}],
  ]);
  expectTypeOf(note.title).toEqualTypeOf<string>();
  expectTypeOf(sample.aBigint).toEqualTypeOf<bigint | null>();
  // @ts-expect-error the title is required
  client.batch([[api.notes.create, { done: true }]]);
  // @ts-expect-error a query is not a mutation
  client.batch([[api.notes.list, {}]]);
});

test("queries are not mutations", () => {
  // @ts-expect-error a query cannot be sent as a mutation
  client.mutate(api.notes.list, {});
  // @ts-expect-error nor the other way round
  client.query(api.notes.create, { title: "x" });
});

test("options decide what there is", () => {
  expectTypeOf<OutputOf<typeof api.titles.get>>().toEqualTypeOf<{
    id: string;
    title: string;
    createdAt: Date;
  } | null>();
  expectTypeOf<keyof typeof api.read_only>().toEqualTypeOf<"list" | "get">();
  expectTypeOf<InputOf<typeof api.announcements.remove>>().toEqualTypeOf<{ id: bigint }>();
});

test("filters are those that the resource allows, and the order one of the columns it shows", () => {
  client.query(api.articles.list, { filters: { title: "x", OR: [{ rank: { op: "gt", value: 3n } }, { day: null }] } });
  // @ts-expect-error allowedFilters does not name the body, which the service would ignore
  client.query(api.articles.list, { filters: { body: "x" } });
  // @ts-expect-error nor inside a group
  client.query(api.articles.list, { filters: { OR: [{ title: "x" }, { body: "x" }] } });
  // @ts-expect-error this resource allows no filters
  client.query(api.notes.list, { filters: { done: true } });
  client.query(api.titles.list, { orderBy: "title" });
  // @ts-expect-error nobody sees this column
  client.query(api.titles.list, { orderBy: "body" });
});

test("a user of a test signs out without a question mark", () => {
  expectTypeOf<TestUser["auth"]>().toEqualTypeOf<NonNullable<SvcClient["auth"]>>();
});

test("a program on Node 20 passes the WebSocket of the package ws", () => {
  createSvcClient({ api: {}, baseUrl: "http://localhost:4000", WebSocket: Ws });
});
