// @vitest-environment jsdom
// If this file fails, a page rendered on a server shows a user's data after the user has signed out, or not the effect of what the
// user does at once.
import { QueryClient } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { createElement as h, Suspense, useEffect } from "react";
import { afterEach, expect, test } from "vitest";
import { queryOptions, SvcProvider, useMutation, useQuery, useSuspenseQuery } from "../../client/react/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { connectTo } from "./react-client.ts";

const db = database();
const running = service(db);
afterEach(cleanup);

test("what a hydrating page fetches as the user is not kept for visitors", async () => {
  const { client, signUp } = connectTo(running);
  const { id } = await signUp();
  const Count = () => h("p", null, `total: ${useSuspenseQuery(api.notes.list).data.total}`);
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = "<!--$--><p>total: 0</p><!--/$-->";
  const queryClient = new QueryClient();
  const page = h(SvcProvider, { apiClient: client, queryClient }, h(Suspense, { fallback: "waiting" }, h(Count)));
  await act(async () => void render(page, { container, hydrate: true }));
  const { queryKey } = queryOptions(client, api.notes.list);
  await expect.poll(() => queryClient.getQueryData(queryKey)).toMatchObject({ total: 0 });
  const queries = queryClient.getQueryCache().getAll();
  expect(queries.map((query) => query.queryKey[1])).toEqual([id]);
});

test("a mutation that a hydrating page calls shows its effect to the user", async () => {
  const { client, signUp, hold, held } = connectTo(running);
  await signUp();
  const queryClient = new QueryClient();
  const list = queryOptions(client, api.notes.list);
  queryClient.setQueryData(list.queryKey, await client.query(api.notes.list));
  function Adder() {
    const { data } = useQuery(api.notes.list);
    const { mutate } = useMutation(api.notes.create, {
      optimistic: (cache) => cache.updateAll(api.notes.list, (page) => ({ ...page, total: page.total + 10 })),
    });
    useEffect(() => mutate({ title: "at once" }), [mutate]);
    return h("p", null, `total: ${data?.total}`);
  }
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = "<p>total: 0</p>";
  const release = hold();
  const page = h(SvcProvider, { apiClient: client, queryClient }, h(Adder));
  await act(async () => void render(page, { container, hydrate: true }));
  await expect.poll(() => held).toHaveLength(1);
  await expect.poll(() => container.textContent).toBe("total: 10");
  release();
  await expect.poll(() => container.textContent).toBe("total: 1");
});
