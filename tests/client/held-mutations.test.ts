// @vitest-environment jsdom
// If this file fails, a page saves what it held back while offline as a user who did not ask for it.

import { onlineManager } from "@tanstack/react-query";
import { act, cleanup, configure, screen, waitFor } from "@testing-library/react";
import { createElement as h } from "react";
import { afterEach, expect, test } from "vitest";
import { useMutation } from "../../client/react/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { connectTo, show } from "./react-client.ts";

const app = service(database());
configure({ asyncUtilTimeout: 20_000 });
afterEach(() => {
  onlineManager.setOnline(true);
  cleanup();
});

test("a page does not send the second of two equal calls as another user, after the first one has ended", async () => {
  const { client, signUp, hold, held } = connectTo(app);
  await signUp();
  const note = { title: "twice" };
  function Adder() {
    const add = useMutation(api.notes.create);
    const state = add.error ? `refused: ${add.error.message}` : add.isPaused ? "held back" : add.status;
    return h("button", { type: "button", onClick: () => add.mutate(note) }, state);
  }
  show(client, Adder);
  const release = hold();
  act(() => screen.getByRole("button").click());
  await waitFor(() => expect(held).toHaveLength(1));
  act(() => onlineManager.setOnline(false));
  act(() => screen.getByRole("button").click());
  await screen.findByText("held back");
  release();
  await waitFor(async () => expect((await client.query(api.notes.list)).total).toBe(1));
  await act(async () => void (await signUp()));
  act(() => onlineManager.setOnline(true));
  await screen.findByText("refused: The user who did this is no longer signed in.");
  expect((await client.query(api.notes.list)).total).toBe(0);
});
