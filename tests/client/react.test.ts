// @vitest-environment jsdom
/** The React bindings in a document, against a real service. What they show is what a person would see. */

import { onlineManager, QueryClient } from "@tanstack/react-query";
import { act, cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import { createElement as h, Suspense, useState, version } from "react";
import { renderToString } from "react-dom/server";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  queryOptions,
  SvcProvider,
  skip,
  useAuth,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useRealtimeStatus,
  useSuspenseQuery,
} from "../../client/react/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { connectTo, show } from "./react-client.ts";

const db = database();
const running = service(db);
configure({ asyncUtilTimeout: 20_000 }); // generous, for a busy machine
afterEach(cleanup);

const connect = () => connectTo(running);
const text = () => document.body.textContent;

describe("useQuery", () => {
  function Titles() {
    const { data, error, isPending } = useQuery(api.notes.list, { orderBy: "title", orderDir: "asc" });
    if (isPending) return h("p", null, "waiting");
    if (error) return h("p", null, `error: ${error.message}`);
    return h("p", null, `notes: ${data.data.map(({ title }) => title).join(", ")}`);
  }

  function Light() {
    return h("p", null, useRealtimeStatus());
  }

  test("waits, then shows the rows", async () => {
    const { client, signUp } = connect();
    await signUp();
    await client.mutate(api.notes.create, { title: "b" });
    await client.mutate(api.notes.create, { title: "a" });
    show(client, Titles);
    expect(text()).toBe("waiting");
    await screen.findByText("notes: a, b");
  });

  test("shows the service's own words when it is refused", async () => {
    show(connect().client, Titles);
    await screen.findByText("error: Sign in to do this.");
  });

  test("follows every change, whoever made it", async () => {
    const { auth, client } = connect();
    const email = `${crypto.randomUUID()}@example.com`;
    const user = await auth.signUp(email, "correct horse", "Ann");
    show(client, () => h("div", null, h(Titles), h(Light)));
    await screen.findByText("live", {}, { timeout: 20_000 });
    await db.sql("insert into notes (user_id, title) values ($1, 'by psql')", [user.id]);
    await screen.findByText("notes: by psql");
  });

  test("asks nothing while it is skipped", async () => {
    const { client, signUp } = connect();
    await signUp();
    const note = await client.mutate(api.notes.create, { title: "chosen" });
    function Chosen({ id }: { id: number | null }) {
      const { data, fetchStatus } = useQuery(api.notes.get, id === null ? skip : { id });
      return h("p", null, data ? data.title : fetchStatus);
    }
    const element = (id: number | null) => h(SvcProvider, { apiClient: client }, h(Chosen, { id }));
    const { rerender } = render(element(null));
    expect(text()).toBe("idle");
    rerender(element(note.id));
    await screen.findByText("chosen");
  });

  test("shows no result of another component while it is skipped", async () => {
    const { client, signUp } = connect();
    await signUp();
    await client.mutate(api.notes.create, { title: "any" });
    function Lists() {
      const all = useQuery(api.notes.list);
      const none = useQuery(api.notes.list, skip);
      return h("p", null, `all: ${all.data?.total}, skipped: ${none.data?.total}`);
    }
    show(client, Lists);
    await screen.findByText("all: 1, skipped: undefined");
  });

  test("shows that it is refused after a change, and the rows again when it is not", async () => {
    const { client, signUp } = connect();
    const { id } = await signUp();
    function Pages() {
      const { data, error } = useInfiniteQuery(api.notes.list, {});
      return h("p", null, error ? `pages: ${error.message}` : `pages: ${data?.pages[0]?.total}`);
    }
    show(client, () => h("div", null, h(Titles), h(Pages), h(Light)));
    await screen.findByText("live");
    const insert = (title: string) => db.sql("insert into notes (user_id, title) values ($1, $2)", [id, title]);
    const grant = () => db.sql("grant select on notes to svc_authenticated");
    onTestFinished(async () => void (await grant()));
    await db.sql("revoke select on notes from svc_authenticated");
    await insert("hidden");
    await screen.findByText(/^error: /);
    await screen.findByText(/^pages: [^u\d]/);
    await grant();
    await insert("shown");
    await screen.findByText("notes: hidden, shown");
    await screen.findByText("pages: 2");
  });

  test("with Suspense waits in the boundary", async () => {
    const { client, signUp } = connect();
    await signUp();
    function Count() {
      return h("p", null, `total: ${useSuspenseQuery(api.notes.list).data.total}`);
    }
    const boundary = () => h(Suspense, { fallback: h("p", null, "waiting") }, h(Count));
    await act(async () => void show(client, boundary));
    await screen.findByText("total: 0");
  });

  test("with Suspense opens the connection without a warning of React to a component that shows its status", async () => {
    const { client, signUp } = connect();
    await signUp();
    const complained = vi.spyOn(console, "error");
    function Page() {
      const [isOpen, open] = useState(false);
      const list = h(Suspense, { fallback: "waiting" }, isOpen && h(Count));
      return h("div", null, h(Light), h("button", { type: "button", onClick: () => open(true) }, "open"), list);
    }
    const Count = () => h("p", null, `total: ${useSuspenseQuery(api.notes.list).data.total}`);
    show(client, Page);
    await act(async () => screen.getByText("open").click());
    await screen.findByText("total: 0");
    await screen.findByText("live");
    expect(complained.mock.calls).toEqual([]);
    complained.mockRestore();
  });

  test("never shows one user what another one saw", async () => {
    const { auth, client, signUp } = connect();
    await signUp();
    await client.mutate(api.notes.create, { title: "secret" });
    show(client, Titles);
    await screen.findByText("notes: secret");
    const seen: (string | null)[] = [];
    const observer = new MutationObserver(() => seen.push(text()));
    observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    await act(() => auth.signOut());
    await act(async () => void (await signUp()));
    await screen.findByText("notes:");
    observer.disconnect();
    expect(seen.length).toBeGreaterThan(0);
    expect(seen.filter((shown) => shown?.includes("secret"))).toEqual([]);
  });
});

test("queryOptions fetches what useQuery then shows without waiting", async () => {
  const { client, signUp } = connect();
  await signUp();
  await client.mutate(api.notes.create, { title: "prefetched" });
  const queryClient = new QueryClient();
  await queryClient.prefetchQuery(queryOptions(client, api.notes.list, { limit: 3 }));
  function First() {
    return h("p", null, useQuery(api.notes.list, { limit: 3 }).data?.data[0]?.title ?? "waiting");
  }
  render(h(SvcProvider, { apiClient: client, queryClient }, h(First)));
  expect(text()).toBe("prefetched");
});

describe("useMutation", () => {
  function Notes() {
    const { data } = useQuery(api.notes.list);
    const rename = useMutation(api.notes.update, {
      optimistic: (cache, { id, title }) =>
        cache.updateAll(api.notes.list, (page) => ({
          ...page,
          data: page.data.map((note) => (note.id === id ? { ...note, title: title ?? note.title } : note)),
        })),
    });
    const [note] = data?.data ?? [];
    const click = (title: string) => () => note && rename.mutate({ id: note.id, title });
    return h(
      "div",
      null,
      h("p", null, note ? `title: ${note.title}` : "nothing"),
      h("p", null, rename.error ? `refused: ${rename.error.message}` : "no error"),
      h("button", { type: "button", onClick: click("new") }, "rename"),
      h("button", { type: "button", onClick: click("\0") }, "break"),
    );
  }
  async function ready() {
    const connected = connect();
    await connected.signUp();
    await connected.client.mutate(api.notes.create, { title: "old" });
    show(connected.client, Notes);
    await screen.findByText("title: old");
    return connected;
  }

  test("shows its effect at once, and then what the service says", async () => {
    const { client, hold } = await ready();
    const release = hold();
    act(() => screen.getByText("rename").click());
    await screen.findByText("title: new");
    expect((await client.query(api.notes.list)).data[0]?.title).toBe("old");
    release();
    await waitFor(async () => expect((await client.query(api.notes.list)).data[0]?.title).toBe("new"));
    await screen.findByText("title: new");
  });

  test("takes it back when it is refused, and says why", async () => {
    await ready();
    act(() => screen.getByText("break").click());
    await screen.findByText(/^refused: The input does not match/);
    await screen.findByText("title: old");
  });

  test("does not send what it held back while offline as another user", async () => {
    const { client, signUp } = await ready();
    onlineManager.setOnline(false);
    act(() => screen.getByText("rename").click());
    await screen.findByText("title: new");
    await act(async () => void (await signUp()));
    act(() => onlineManager.setOnline(true));
    await screen.findByText("refused: The user who did this is no longer signed in.");
    expect((await client.query(api.notes.list)).total).toBe(0);
  });

  test("queries of the same resource follow without being told", async () => {
    const { client, signUp } = connect();
    await signUp();
    function Adder() {
      const { data } = useQuery(api.notes.list);
      const add = useMutation(api.notes.create);
      const onClick = () => add.mutate({ title: "one more" });
      return h("button", { type: "button", onClick }, `total: ${data?.total}`);
    }
    show(client, Adder);
    const button = await screen.findByText("total: 0");
    await act(async () => button.click());
    await screen.findByText("total: 1");
  });
});

describe("useAuth", () => {
  function Who() {
    const { user, isAuthenticated, token } = useAuth();
    return h("p", null, `${user?.name ?? "nobody"} ${isAuthenticated} ${token === null ? "no token" : "token"}`);
  }

  test("follows signing in and out", async () => {
    const { auth, client, signUp } = connect();
    show(client, Who);
    expect(text()).toBe("nobody false no token");
    await act(async () => void (await signUp()));
    expect(text()).toBe("Ann true token");
    await act(() => auth.signOut());
    expect(text()).toBe("nobody false no token");
  });

  test("on a server nobody is signed in, whoever is, so that the page can take over", async () => {
    const { client, signUp } = connect();
    await signUp();
    const html = renderToString(h(SvcProvider, { apiClient: client }, h(Who)));
    expect(html).toContain("nobody false no token");
  });
});

test("without a provider a hook says what is missing", () => {
  const silent = console.error;
  console.error = () => {};
  expect(() => render(h(() => h("p", null, String(useQuery(api.notes.list).data))))).toThrow(
    /There is no SvcProvider around this component/,
  );
  console.error = silent;
});

test("the React under test is the one that the project is named for", ({ task }) => {
  expect(version.split(".")[0]).toBe(task.file.projectName === "react-18" ? "18" : "19");
});
