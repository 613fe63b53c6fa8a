import {
  channel,
  createCrudFactory,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  defineApi,
  v,
} from "@svc/core";
import { desc, eq } from "drizzle-orm";
import * as schema from "./schema.ts";

const procedure = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(procedure, schema);

const echo = procedure.query
  .name("echo")
  .input(v.object({ text: v.string() }))
  .handler(({ input }) => input.text);

/** What bench/auth.ts measures credentials against. */
const echoToAnyone = procedure.query
  .name("echoToAnyone")
  .input(v.object({ text: v.string() }))
  .allowAnonymous()
  .handler(({ input }) => input.text);

/** What bench/storage.ts reads back. */
const storeFile = procedure.mutation
  .name("storeFile")
  .input(v.object({ file: v.file() }))
  .handler(({ context, input }) => context.storage.store(input.file, { visibility: "public" }));

/** What bench/live.ts watches. */
const openItems = procedure.query
  .name("openItems")
  .handler(({ context }) => context.db.$count(schema.items, eq(schema.items.done, false)));

/** Handlers that bench/handlers.ts measures. */
const itemById = procedure.query
  .name("itemById")
  .input(v.object({ id: v.number() }))
  .handler(async ({ context, input }) => {
    const [item] = await context.db.select().from(schema.items).where(eq(schema.items.id, input.id));
    return item ?? null;
  });
const latestItems = procedure.query.name("latestItems").handler(async ({ context }) => {
  const [data, total] = await Promise.all([
    context.db.select().from(schema.items).orderBy(desc(schema.items.createdAt), desc(schema.items.id)).limit(20),
    context.db.$count(schema.items),
  ]);
  return { data, total };
});
const addItem = procedure.mutation
  .name("addItem")
  .input(v.object({ title: v.string() }))
  .handler(async ({ context, input }) => {
    const [item] = await context.db
      .insert(schema.items)
      .values({ userId: context.auth.requireAuth().user.id, title: input.title })
      .returning();
    return item;
  });

/** A route that bench/handlers.ts measures. */
const hello = createSvcHttpRouteBuilders()
  .get.path("/hello/:name")
  .handler(({ request }) => ({ body: { hello: request.params.name } }));

/** What bench/channels.ts fills. */
const room = {
  input: v.object({ n: v.number() }),
  join: () => true,
  messages: { moved: v.object({ x: v.number(), y: v.number() }) },
  allowAnonymous: true,
} as const;
const spots = channel("spots", room);
const keptSpots = channel("keptSpots", { ...room, durable: { keep: "1 day" } });

const found = { searchFields: ["title"], allowedFilters: ["title", "done", "priority", "createdAt"] } as const;

export default defineApi({
  httpRoutes: { hello },
  channels: { spots, keptSpots },
  procedures: {
    items: createCrud(schema.items, { transfer: { export: true, import: true } }),
    // bench/lists.ts: the same list over tables of every size, and one that does not count
    items1e3: createCrud(schema.items1e3, found),
    items1e4: createCrud(schema.items1e4, found),
    items1e5: createCrud(schema.items1e5, found),
    items1e6: createCrud(schema.items, { ...found, prefix: "items_1e6" }),
    items1e7: createCrud(schema.items1e7, found),
    deepItems: createCrud(schema.deepItems, { ...found, count: "none", methods: ["list"] }),
    // bench/related.ts
    articles: createCrud(schema.articles, {
      count: "none",
      methods: ["list"],
      include: ["author", "tags", "comments"],
    }),
    authors: createCrud(schema.authors, { methods: ["list", "get"] }),
    tags: createCrud(schema.tags, { methods: ["list"] }),
    comments: createCrud(schema.comments, { methods: ["list"] }),
    echo,
    echoToAnyone,
    storeFile,
    openItems,
    itemById,
    latestItems,
    addItem,
  },
});
