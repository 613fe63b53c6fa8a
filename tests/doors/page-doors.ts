/** The doors to rows of a `createCrud` table: HTTP, GraphQL, and messages to sockets. */
import { afterAll } from "vitest";
import { keyOf } from "../../src/realtime/key.ts";
import { type Answer, bearer, type TestService, type User } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { type Caller, type Door, isGiven, isSignedIn, type Scope, type WritingDoor } from "./door.ts";
import type { World } from "./world.ts";

type Row = { id: string };
const inScope = "corpus = $1 and visibility = $2 and user_id = coalesce($3, user_id)";
const rows = `select id::text from pages where ${inScope}`;
const all = "select id::text from pages";
const total = `select count(*)::text as id from pages where ${inScope} having count(*) > 0`;
const counted = (count: number) => (count > 0 ? [String(count)] : []);
const filters = ({ corpus, visibility, owner }: Scope) => ({
  corpus,
  visibility,
  ...(owner !== null && { userId: owner }),
});
const ids = (found: Row[]) => found.map(({ id }) => id);

export function pageDoors({ running, sql }: World): Door[] {
  const list = async ({ user }: Caller, args: object) => {
    const answer = await running.query(user, "pages.list", args);
    return isGiven(answer) ? answer.body.json : { data: [], total: 0 };
  };
  const graphql = async ({ user }: Caller, query: string, variables: object = {}) => {
    const { body } = await running.post("/api/graphql", { query, variables }, user);
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return body.data;
  };
  const condition = ($: Scope) => ({ condition: filters($) });
  const pagesOf = (fields: string) =>
    `query ($condition: PageCondition) { pages(condition: $condition) { ${fields} } }`;
  const everyPage = () => sql.all<Row>(all);
  return [
    { name: "pages.list", rows, read: async (caller, $) => ids((await list(caller, { filters: filters($) })).data) },
    {
      name: "pages.list, its total",
      rows: total,
      read: async (caller, $) => counted((await list(caller, { filters: filters($), limit: 1 })).total),
    },
    {
      name: "pages.list, searched and in another order",
      rows,
      read: async (caller, $) =>
        ids((await list(caller, { filters: filters($), search: "crane", orderBy: "rank" })).data),
    },
    {
      name: "pages.list, page after page",
      rows: all,
      async read(caller) {
        const met: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const page = await list(caller, { limit: 5, cursor: cursor ?? null });
          met.push(...ids(page.data));
          cursor = page.nextCursor;
          if (!cursor) return met;
        }
      },
    },
    {
      name: "an export of pages",
      functions: ["open_export", "read_export"],
      rows,
      async read({ user }, $) {
        const query = new URLSearchParams({ filters: JSON.stringify(filters($)) });
        const answer = await running.fetch(`/api/export/pages.ndjson?${query}`, { headers: bearer(user) });
        if (!isGiven(answer)) return [];
        return ids(
          answer.body
            .split("\n")
            .slice(0, -1)
            .map((line: string) => JSON.parse(line)),
        );
      },
    },
    {
      name: "pages.aggregate, its counts by corpus",
      functions: ["aggregate_rows"],
      rows: "select corpus || ' ' || count(*) as id from pages where visibility = $2 and $1 <> '' and user_id = coalesce($3, user_id) group by corpus",
      async read({ user }, { visibility, owner }) {
        const filters = { visibility, ...(owner !== null && { userId: owner }) };
        const answer = await running.query(user, "pages.aggregate", { ...counts, filters });
        return isGiven(answer) ? answer.body.json.data.map(byCorpus) : [];
      },
    },
    {
      name: "pages.get",
      rows: all,
      async read({ user }) {
        const answers = (await everyPage()).map(({ id }) => running.query(user, "pages.get", { id }));
        return (await Promise.all(answers)).flatMap((answer) => (isGiven(answer) && answer.body.json?.id) || []);
      },
    },
    {
      name: "viewed.list, of a view",
      rows,
      read: async ({ user }, $) => {
        const answer = await running.query(user, "viewed.list", { filters: filters($) });
        return isGiven(answer) ? ids(answer.body.json.data) : [];
      },
    },
    {
      name: "viewed.list, what its view counts",
      rows: "select id || ' among ' || count(*) over (partition by corpus) as id from pages",
      read: async ({ user }) => {
        const answer = await running.query(user, "viewed.list");
        return isGiven(answer)
          ? answer.body.json.data.map(({ id, among }: Row & { among: number }) => `${id} among ${among}`)
          : [];
      },
    },
    {
      name: "labelled.get, by another key",
      functions: ["find_row"],
      rows: all,
      async read({ user }) {
        const labels = await sql.all<{ label: string }>("select label from pages");
        const answers = labels.map(({ label }) => running.query(user, "labelled.get", { label }));
        return (await Promise.all(answers)).flatMap((answer) => (isGiven(answer) && answer.body.json?.id) || []);
      },
    },
    {
      name: "linked.list, the pages that it includes",
      functions: ["find_rows"],
      rows: all,
      serves: isSignedIn,
      read: async ({ user }) => included(await running.query(user, "linked.list", withPage)),
    },
    {
      name: "linked.get, the page that it includes",
      functions: ["find_row"],
      rows: all,
      serves: isSignedIn,
      async read({ user }) {
        const links = await sql.all<Row>("select id::text from samples where user_id = $1", [user?.id]);
        const answers = links.map(({ id }) => running.query(user, "linked.get", { ...withPage, id }));
        return (await Promise.all(answers)).flatMap(({ body }) => body.json?.page?.id ?? []);
      },
    },
    {
      name: "linked.list, filtered by its page",
      rows,
      serves: isSignedIn,
      async read({ user }, $) {
        const { body } = await running.query(user, "linked.list", {
          select: ["pageId"],
          filters: { page: filters($) },
        });
        return body.json.data.map(({ pageId }: { pageId: string }) => pageId);
      },
    },
    {
      name: "linked.aggregate, filtered by its page",
      functions: ["aggregate_rows"],
      rows: total,
      serves: isSignedIn,
      async read({ user }, $) {
        const args = { measures: ["count"], filters: { page: filters($) } };
        return counted((await running.query(user, "linked.aggregate", args)).body.json.data[0].count);
      },
    },
    {
      name: "GraphQL, a list",
      rows,
      read: async (caller, $) => ids((await graphql(caller, pagesOf("nodes { id }"), condition($))).pages.nodes),
    },
    {
      name: "GraphQL, a total",
      rows: total,
      read: async (caller, $) => counted((await graphql(caller, pagesOf("totalCount"), condition($))).pages.totalCount),
    },
    {
      name: "GraphQL, one row after the other",
      rows: all,
      async read(caller) {
        const fields = (await everyPage()).map(({ id }, at) => `p${at}: page(id: "${id}") { id }`);
        return Object.values(await graphql(caller, `{ ${fields.join(" ")} }`)).flatMap((row) => (row as Row)?.id ?? []);
      },
    },
    {
      name: "GraphQL, behind another row",
      rows: all,
      serves: isSignedIn,
      async read(caller) {
        const { samples } = await graphql(caller, "{ samples(first: 100) { nodes { pageByAUuid { id } } } }");
        return samples.nodes.flatMap(({ pageByAUuid }: { pageByAUuid: Row | null }) => pageByAUuid?.id ?? []);
      },
    },
    { rows: all, ...watched(running, "pages.list", undefined, (json) => ids(json.data)) },
    { rows: all, serves: isSignedIn, ...watched(running, "linked.list", withPage, ({ data }) => pagesIn(data)) },
    {
      rows: "select corpus || ' ' || count(*) as id from pages group by corpus",
      ...watched(running, "pages.aggregate", counts, ({ data }) => data.map(byCorpus)),
    },
  ];
}

const withPage = { include: { page: true } };
const pagesIn = (links: { page: Row | null }[]) => links.flatMap(({ page }) => page?.id ?? []);
const included = (answer: Answer) => (isGiven(answer) ? pagesIn(answer.body.json.data) : []);
const counts = { groupBy: ["corpus"], measures: ["count"] };
const byCorpus = ({ corpus, count }: { corpus: string; count: number }) => `${corpus} ${count}`;

/** A query that ctx.realtime.refresh repeats runs as each who gets the result. */
function watched(
  running: TestService,
  name: string,
  args: object | undefined,
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  read: (json: any) => string[],
): Pick<Door, "name" | "read" | "isClosedToKeys"> {
  const key = keyOf(name, args);
  const open = new Map<User | null, Promise<Socket>>();
  afterAll(async () => {
    for (const socket of open.values()) (await socket).close();
  });
  const watch = async (user: User | null) => {
    const socket = await Socket.open(running, user);
    await socket.subscribe(key);
    return socket;
  };
  return {
    name: `a socket that watches ${key}`,
    isClosedToKeys: true, // the tables of the fixture declare no scopes
    async read({ user }) {
      const watching = open.get(user) ?? watch(user);
      open.set(user, watching);
      const socket = await watching;
      socket.frames.length = 0;
      await running.mutate(user, "doors.refresh", { name, args });
      return read((await socket.wait({ type: "query:updated", query: key })).result.json);
    },
  };
}

export function pageWrites({ running, sql }: World): WritingDoor[] {
  const mutate =
    (name: string, args: object) =>
    async ({ user }: Caller, id: string) =>
      isGiven(await running.mutate(user, name, { ...args, id }));
  const graphql =
    (query: string) =>
    async ({ user }: Caller, id: string) => {
      const { body } = await running.post("/api/graphql", { query, variables: { id } }, user);
      const code = body.errors?.[0].extensions.code;
      if (code && !["NOT_FOUND", "UNAUTHORIZED", "FORBIDDEN"].includes(code)) throw new Error(JSON.stringify(body));
      return !code;
    };
  const batch = async ({ user }: Caller, id: string) =>
    isGiven(
      await running.post("/api/batch", { calls: [{ name: "pages.update", args: { title: "changed", id } }] }, user),
    );
  const upsert = async ({ user }: Caller, id: string) => {
    const [row] = await sql.all<{ label: string }>("select label from pages where id = $1", [id]);
    const args = { by: "label", row: { label: row?.label, title: "changed" } };
    return isGiven(await running.mutate(user, "labelled.upsert", args));
  };
  /** The row by a column of its own; nothing is refused, but the row is not counted. */
  const many =
    (name: string, args: object) =>
    async ({ user }: Caller, id: string) => {
      const [row] = await sql.all<{ label: string }>("select label from pages where id = $1", [id]);
      const answer = await running.mutate(user, name, { ...args, filters: { label: row?.label }, max: 1 });
      return isGiven(answer) && answer.body.json.count === 1;
    };
  const updates = {
    table: "pages",
    may: "with u as (update pages set title = title returning id) select id::text from u",
  };
  const removals = { table: "pages", may: "with d as (delete from pages returning id) select id::text from d" };
  return [
    { name: "pages.update", ...updates, write: mutate("pages.update", { title: "changed" }) },
    { name: "labelled.upsert", ...updates, write: upsert },
    {
      name: "labelled.updateMany",
      ...updates,
      write: many("labelled.updateMany", { set: { title: "changed" } }),
    },
    { name: "labelled.removeMany", ...removals, write: many("labelled.removeMany", {}) },
    { name: "pages.remove", ...removals, write: mutate("pages.remove", {}) },
    { name: "pages.update in a batch", ...updates, write: batch },
    {
      name: "GraphQL, updatePage",
      ...updates,
      write: graphql('mutation ($id: UUID!) { updatePage(id: $id, patch: { title: "changed" }) { id } }'),
    },
    { name: "GraphQL, removePage", ...removals, write: graphql("mutation ($id: UUID!) { removePage(id: $id) }") },
  ];
}
