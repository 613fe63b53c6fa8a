// @vitest-environment jsdom
/** Requests for what no component shows any more. If this file fails, they go on, or are sent twice. */
import { act, cleanup, configure, render, screen, waitFor } from "@testing-library/react";
import { createElement as h, StrictMode, useState, version } from "react";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { SvcProvider, useAuth, useQuery } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const running = service(database());
configure({ asyncUtilTimeout: 20_000 }); // generous, for a busy machine
afterEach(cleanup);

/** A client whose queries are recorded, and wait while `isHeld`. */
async function connect() {
  const queries: { body: string; signal: AbortSignal | null | undefined }[] = [];
  const gate = { isHeld: false };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (String(input).endsWith("/api/query")) {
      const { signal } = init ?? {};
      queries.push({ body: String(init?.body), signal });
      while (gate.isHeld && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch, WebSocket: WebSocket as never });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  return { auth, client, queries, gate };
}

test("a search as you type aborts what it asked before, and asks once, in StrictMode too", async ({ task }) => {
  const { client, queries, gate } = await connect();
  await client.mutate(api.notes.create, { title: "abc" });
  function Search() {
    const [text, setText] = useState("a");
    const { data, error } = useQuery(api.notes.list, { search: text });
    const type = () => setText((before) => `${before}${"abc"[before.length]}`);
    return h(
      "div",
      null,
      h("button", { type: "button", onClick: type }, "type"),
      h("p", null, error?.message ?? `${text}: ${data?.total}`),
    );
  }
  gate.isHeld = true;
  render(h(StrictMode, null, h(SvcProvider, { apiClient: client }, h(Search))));
  act(() => screen.getByText("type").click());
  act(() => screen.getByText("type").click());
  await waitFor(() => expect(queries.map(({ signal }) => signal?.aborted)).toEqual([true, true, false]));
  gate.isHeld = false;
  await screen.findByText("abc: 1");
  expect(queries).toHaveLength(3);
  expect(version.split(".")[0]).toBe(task.file.projectName === "react-18" ? "18" : "19");
});

test("signing out asks nothing for components that it takes away", async () => {
  const { auth, client, queries } = await connect();
  const Notes = () => h("p", null, `total: ${useQuery(api.notes.list).data?.total}`);
  const Page = () => (useAuth().user ? h(Notes) : h("p", null, "signed out"));
  render(h(SvcProvider, { apiClient: client }, h(Page)));
  await screen.findByText("total: 0");
  const asked = queries.length;
  setTimeout(() => void auth.signOut()); // while findByText waits: act would keep the components until its end
  await screen.findByText("signed out");
  await new Promise((resolve) => setTimeout(resolve, 200)); // longer than what is asked after a sign-out waits
  expect(queries).toHaveLength(asked);
});

test("who asks anew about a result that has just come gets this one", async () => {
  const { client, queries } = await connect();
  const again = Promise.withResolvers<Promise<unknown>>();
  client.watch(api.notes.get, { id: 1 }, () =>
    again.resolve(client["~svc"].refetch(api.notes.get, { id: 1 }, { afresh: true })),
  );
  expect(await again.promise).toBeNull();
  expect(queries).toHaveLength(1);
  client.close();
});

test("what no component has shown is not watched after its request was abandoned", async () => {
  const { client, queries, gate } = await connect();
  gate.isHeld = true;
  const leaving = new AbortController();
  const asked = client["~svc"].refetch(api.notes.list, {}, { signal: leaving.signal });
  await waitFor(() => expect(queries).toHaveLength(1));
  leaving.abort(); // as a page does that was prefetched, or left while it suspended
  await expect(asked).rejects.toThrow();
  expect(client.realtime.getStatus()).not.toBe("idle");
  await waitFor(() => expect(client.realtime.getStatus()).toBe("idle")); // the socket is closed after the last query
});
