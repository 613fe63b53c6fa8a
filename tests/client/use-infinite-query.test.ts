// @vitest-environment jsdom
/** Lists that grow page by page in React, against a real service, while their rows change. */
import { act, cleanup, configure, screen, waitFor } from "@testing-library/react";
import { createElement as h } from "react";
import { afterEach, expect, test } from "vitest";
import { useInfiniteQuery, useMutation } from "../../client/react/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { connectTo, show } from "./react-client.ts";

const db = database();
const running = service(db);
configure({ asyncUtilTimeout: 20_000 }); // generous, for a busy machine
afterEach(cleanup);

function Pages() {
  const list = useInfiniteQuery(api.notes.list, { orderBy: "title", orderDir: "asc", limit: 2 });
  const rename = useMutation(api.notes.update, {
    optimistic: (cache, { id, title = "" }) =>
      cache.updateAll(api.notes.list, (page) => ({
        ...page,
        data: page.data.map((note) => (note.id === id ? { ...note, title } : note)),
      })),
  });
  const add = useMutation(api.notes.create, {
    optimistic: (cache, { title }) => {
      cache.update(api.notes.list, { orderBy: "title", orderDir: "asc", limit: 2 }, (page, at) => {
        const [note] = page.data;
        return at === 0 && note ? { ...page, data: [{ ...note, id: -1, title }, ...page.data] } : page;
      });
      cache.update(api.notes.list, { orderBy: "title", orderDir: "desc", limit: 2 }, () => {
        throw new Error("another list");
      });
    },
  });
  const rows = list.data?.pages.flatMap((page) => page.data) ?? [];
  const last = rows.at(-1);
  return h(
    "div",
    null,
    h("p", null, `${rows.map(({ title }) => title).join(" ")}${list.hasNextPage ? " and more" : ""}`),
    h("button", { type: "button", onClick: () => void list.fetchNextPage() }, "next"),
    h("button", { type: "button", onClick: () => add.mutate({ title: "b" }) }, "add"),
    h("button", { type: "button", onClick: () => last && rename.mutate({ id: last.id, title: "z" }) }, "rename"),
  );
}
async function ready() {
  const connected = connectTo(running);
  const { id } = await connected.signUp();
  for (const title of ["a", "c", "e", "g", "i"]) await connected.client.mutate(api.notes.create, { title });
  show(connected.client, Pages);
  await screen.findByText("a c and more");
  act(() => screen.getByText("next").click());
  await screen.findByText("a c e g and more");
  return { ...connected, id };
}

test("shows page after page, and all that are shown follow every change", async () => {
  const { client, id } = await ready();
  await waitFor(() => expect(client.realtime.getStatus()).toBe("live"));
  // On the first page: every later row moves down.
  await db.sql("insert into notes (user_id, title) values ($1, 'b')", [id]);
  await screen.findByText("a b c e and more");
  // On the second page.
  await db.sql("update notes set title = 'd' where user_id = $1 and title = 'e'", [id]);
  await screen.findByText("a b c d and more");
  act(() => screen.getByText("next").click());
  await screen.findByText("a b c d g i");
});

test("a change that comes while the next page is fetched does not cancel it", async () => {
  const { client, id, hold, held } = await ready();
  await waitFor(() => expect(client.realtime.getStatus()).toBe("live"));
  const release = hold('"cursor":"');
  act(() => screen.getByText("next").click());
  await waitFor(() => expect(held).toHaveLength(1));
  const heard = Promise.withResolvers<void>();
  const first = { orderBy: "title", orderDir: "asc", limit: 2, cursor: null } as const; // what the hook watches
  client.watch(api.notes.list, first, ({ total }) => total === 6 && heard.resolve());
  await db.sql("insert into notes (user_id, title) values ($1, 'b')", [id]);
  await heard.promise;
  release();
  await screen.findByText("a b c e g i");
});

test("the next page, asked for while pages are fetched after a change, does not leave them old", async () => {
  const { client, id, hold, held } = await ready();
  await waitFor(() => expect(client.realtime.getStatus()).toBe("live"));
  const release = hold('"cursor":"');
  await db.sql("insert into notes (user_id, title) values ($1, 'b')", [id]);
  await waitFor(() => expect(held).toHaveLength(1));
  act(() => screen.getByText("next").click());
  await waitFor(() => expect(held).toHaveLength(2));
  release();
  await screen.findByText("a b c e g i");
});

test("an optimistic change is in its pages at once", async () => {
  const { hold } = await ready();
  const release = hold();
  act(() => screen.getByText("rename").click());
  await screen.findByText("a c e z and more");
  release();
  await screen.findByText("a c e i and more"); // sorted by the service
});

test("a row is added at once to the first page of the list with these arguments", async () => {
  const { hold } = await ready();
  const release = hold();
  act(() => screen.getByText("add").click());
  await screen.findByText("b a c e g and more");
  release();
  await screen.findByText("a b c e and more"); // sorted by the service
});
