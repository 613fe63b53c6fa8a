// @vitest-environment jsdom
/** Optimistic changes while others change the same rows. If this file fails, a page shows old data for a moment. */
import { act, cleanup, configure, screen, waitFor } from "@testing-library/react";
import { createElement as h, version } from "react";
import { afterEach, beforeEach, expect, test } from "vitest";
import { useMutation, useQuery } from "../../client/react/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { connectTo, show } from "./react-client.ts";

const db = database();
const running = service(db);
configure({ asyncUtilTimeout: 20_000 }); // generous, for a busy machine
afterEach(cleanup);

/** What was on the page, each time that it changed. */
let seen: string[] = [];
const observer = new MutationObserver(() => {
  const shown = document.querySelector("p")?.textContent ?? "";
  if (shown !== seen.at(-1)) seen.push(shown);
});
beforeEach(() => {
  observer.disconnect();
  seen = [];
});

function Notes() {
  const { data } = useQuery(api.notes.list, { orderBy: "id", orderDir: "asc" });
  const rename = useMutation(api.notes.update, {
    optimistic: (cache, { id, title = "" }) =>
      cache.updateAll(api.notes.list, (page) => ({
        ...page,
        data: page.data.map((note) => (note.id === id ? { ...note, title } : note)),
      })),
  });
  const button = (at: number, title: string) =>
    h(
      "button",
      { type: "button", onClick: () => rename.mutate({ id: data?.data[at]?.id ?? 0, title }) },
      `rename to ${title.replace("\0", "")}`,
    );
  return h(
    "div",
    null,
    h("p", null, data?.data.map(({ title }) => title.replace("\0", "")).join(" ") ?? "waiting"),
    button(0, "A"),
    button(1, "B"),
    button(0, "refused\0"), // the service takes no NUL
  );
}

async function ready() {
  const connected = connectTo(running);
  const { id } = await connected.signUp();
  for (const title of ["a", "b", "c"]) await connected.client.mutate(api.notes.create, { title });
  show(connected.client, Notes);
  await screen.findByText("a b c");
  await waitFor(() => expect(connected.client.realtime.getStatus()).toBe("live"));
  observer.observe(document.body, { childList: true, subtree: true, characterData: true });
  return { ...connected, id };
}
const click = (title: string) => act(() => screen.getByText(`rename to ${title}`).click());
const bySql = (id: string, from: string, to: string) =>
  db.sql("update notes set title = $3 where user_id = $1 and title = $2", [id, from, to]);
/** Until the user has a note of this title. Others of this file have such notes too. */
const stored = (id: string, title: string) =>
  waitFor(() =>
    expect(db.sql("select from notes where user_id = $1 and title = $2", [id, title])).resolves.toHaveLength(1),
  );

test("a result that comes while a mutation is under way has its change too", async ({ task }) => {
  const { hold, id } = await ready();
  const release = hold();
  click("A");
  await screen.findByText("A b c");
  await bySql(id, "c", "C");
  await screen.findByText("A b C");
  release();
  await stored(id, "A");
  await bySql(id, "b", "last");
  await screen.findByText("A last C");
  expect(seen).toEqual(["A b c", "A b C", "A last C"]);
  expect(version.split(".")[0]).toBe(task.file.projectName === "react-18" ? "18" : "19");
});

test("a mutation that fails takes back its own change alone", async () => {
  const { hold, id } = await ready();
  const release = hold("refused");
  click("refused");
  await screen.findByText("refused b c");
  click("B");
  await screen.findByText("refused B c");
  await stored(id, "B");
  await bySql(id, "c", "C");
  await screen.findByText("refused B C");
  release();
  await screen.findByText("a B C");
  expect(seen).toEqual(["refused b c", "refused B c", "refused B C", "a B C"]);
});

test("an answer that was asked for before a mutation ended is not shown after it", async () => {
  const { hold, held, id, client } = await ready();
  const later = hold("notes.list");
  await bySql(id, "c", "C");
  await waitFor(() => expect(held).toHaveLength(1)); // asked after the change of c, and before that of a
  click("A");
  await stored(id, "A");
  await waitFor(() => expect(held).toHaveLength(2));
  later();
  await screen.findByText("A b C");
  expect(seen).toEqual(["A b c", "A b C"]);
  client.close();
});
