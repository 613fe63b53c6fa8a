// @vitest-environment jsdom
// If this file fails, a list built as in docs/how-to/infinite-lists.md skips rows, repeats them or misses new ones.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { act, cleanup, render, screen, waitFor } from "@testing-library/react";
import { createElement as h } from "react";
import { afterEach, expect, test, vi } from "vitest";
import WebSocket from "ws"; // the document's own WebSocket sends another origin
import { SvcProvider } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { documented } from "./documented.ts";

const { db, folder, url, person, call } = documented("docs/how-to/infinite-lists.md");
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  return db.sql("truncate posts");
});

const numbered = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => `Post ${from - at}`);
const insert = "insert into posts (user_id, title, created_at) select $1, 'Post ' || n, now() + n * interval '1 s'";

test("the page loads the next posts at its end, and shows new ones", async () => {
  // jsdom has no layout: the test says when the end is on the screen.
  let scroll = () => {};
  class Observer {
    constructor(report: (entries: { isIntersecting: boolean }[]) => void) {
      // Void: given the promise of the page, act() would wait for it, and keep what is rendered meanwhile to itself.
      scroll = () => void report([{ isIntersecting: true }]);
    }
    observe() {}
    disconnect() {}
  }
  vi.stubGlobal("IntersectionObserver", Observer);

  const auth = createAuthClient(url(), { sessionTokenStorage: "memory" });
  const { api } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "web/svc/api.ts")).href);
  const { Feed } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "web/feed.js")).href);
  const apiClient = createSvcClient({ api, baseUrl: url(), auth, WebSocket: WebSocket as never });
  const { id } = await auth.signUp(`eve-${crypto.randomUUID()}@example.com`, "correct horse", "Eve");
  await db.sql(`${insert} from generate_series(1, 50) n`, [id]);
  render(h(SvcProvider, { apiClient }, h(Feed)));

  const shown = () => screen.queryAllByRole("listitem").map(({ textContent }) => textContent);
  const shows = (titles: string[]) => waitFor(() => expect(shown()).toEqual(titles), { timeout: 40_000 });
  await shows(numbered(50, 31));
  act(() => scroll());
  await shows(numbered(50, 11));
  (await screen.findByRole("button", { name: "More" })).click();
  await shows(numbered(50, 1));
  expect(screen.queryByRole("button")).toBeNull();
  await db.sql(`${insert} from generate_series(51, 51) n`, [id]);
  await shows(numbered(51, 1));
  apiClient.close();
});

test("the query of one's own has the same pages", async () => {
  const { token, user } = await person("ann");
  await db.sql(`${insert} from generate_series(1, 45) n`, [user.id]);
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const { body } = await call("query", token, "posts.titles", { cursor });
    pages.push(body.json.data.map(({ title }: { title: string }) => title));
    cursor = body.json.nextCursor;
  } while (cursor !== null && pages.length < 9);
  expect(pages).toEqual([numbered(45, 26), numbered(25, 6), numbered(5, 1)]);
  expect((await call("query", token, "posts.titles", { cursor: "all" })).status).toBe(400);
});
