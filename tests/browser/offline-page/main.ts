/** The page of `offline.test.ts`: notes of the signed-in user, which the test changes by `notes`. */
import { createAuthClient, createSvcClient } from "@svc/client";
import { createOutbox, type RefusedMutation, svcCollectionOptions, temporaryKey } from "@svc/tanstack-db";
import { createCollection } from "@tanstack/db";
import { api } from "../../fixture/web/svc/api.ts";

const baseUrl = new URL(location.href).searchParams.get("service") ?? "";
const auth = createAuthClient(baseUrl);
const client = createSvcClient({ api, baseUrl, auth });
const refused: RefusedMutation[] = [];
const outbox = createOutbox(client, { onRefused: (each) => refused.push(each) });
const notes = createCollection(
  svcCollectionOptions({
    client,
    outbox,
    query: api.notes.list,
    args: { limit: 100 },
    getKey: ({ id }) => id,
    insert: api.notes.create,
    update: api.notes.update,
    remove: api.notes.remove,
    keepRows: true,
    startSync: true,
  }),
);
const list = document.querySelector("ul") as HTMLUListElement;
notes.subscribeChanges(() => {
  list.replaceChildren(
    ...notes.toArray.map(({ title }) => Object.assign(document.createElement("li"), { textContent: title })),
  );
});

/** What the test calls. Each resolves when the device keeps the mutation. */
const acts = {
  auth,
  status: () => client.realtime.getStatus(),
  pending: () => outbox.pending().length,
  refused: () => refused.map(({ row, error, current }) => ({ title: row.title, code: error.code, current })),
  add: (title: string) =>
    notes
      .insert({
        ...{ id: temporaryKey(), title, userId: "", done: false, priority: 0 },
        ...{ createdAt: new Date(), updatedAt: new Date() },
      })
      .when("settled")
      .then(() => {}),
  rename: (from: string, to: string) => {
    const { id = Number.NaN } = notes.toArray.find(({ title }) => title === from) ?? {};
    const change = notes.update(id, (draft) => {
      draft.title = to;
    });
    return change.when("settled").then(() => {});
  },
};
export type Acts = typeof acts;
Object.assign(globalThis, { acts });
