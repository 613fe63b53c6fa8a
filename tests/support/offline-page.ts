/** A page with collections of TanStack DB on a device: with a network of its own, and a storage that outlives it. */
import { createCollection } from "@tanstack/db";
import { onTestFinished } from "vitest";
import { createAuthClient, createSvcClient, type MutationOf, mutation } from "../../client/sdk/src/index.ts";
import {
  createOutbox,
  type OutboxStorage,
  type RefusedMutation,
  svcCollectionOptions,
  temporaryKey,
} from "../../client/tanstack-db/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import { FlakyProxy } from "./flaky-proxy.ts";

/** What was written survives the page. */
export class Device implements OutboxStorage {
  name: string | undefined;
  readonly items = new Map<string, string>();
  /** The session, as in localStorage. */
  readonly session = new Map<string, string>();
  /** Called before each use; may throw, or wait. */
  before: (use: "read" | "write" | "remove", key: string) => void | Promise<void> = () => {};

  async read(prefix: string): Promise<[string, string][]> {
    await this.before("read", prefix);
    return [...this.items].filter(([key]) => key.startsWith(prefix)).reverse(); // in any order
  }

  async write(key: string, value: string): Promise<void> {
    await this.before("write", key);
    this.items.set(key, value);
  }

  async remove(key: string): Promise<void> {
    await this.before("remove", key);
    this.items.delete(key);
  }

  keys = (prefix = ""): string[] => [...this.items.keys()].filter((key) => key.startsWith(prefix));
  sessionStorage = {
    getItem: (key: string) => this.session.get(key) ?? null,
    setItem: (key: string, value: string) => void this.session.set(key, value),
    removeItem: (key: string) => void this.session.delete(key),
  };
}

export const person = () => [`${crypto.randomUUID()}@example.com`, "correct horse", "Ann"] as const;

/** A note as a page makes it. */
export const note = (title: string) => ({
  ...{ id: temporaryKey(), title, userId: "", done: false, priority: 0 },
  ...{ createdAt: new Date(), updatedAt: new Date() },
});

/** A mutation of a test's own procedure. */
export const own = <Input>(name: string) =>
  mutation(name) as MutationOf<{ "~svc": { types?: { input: Input; output: unknown } } }>;

interface PageOptions {
  device?: Device;
  network?: FlakyProxy;
  keepRows?: boolean;
  auth?: Parameters<typeof createAuthClient>[1];
  client?: { fetch?: typeof fetch; timeoutMs?: number };
}

export type OfflinePage = Awaited<ReturnType<typeof offlinePage>>;

/** @param url of the service */
export async function offlinePage(url: string, options: PageOptions = {}) {
  const { device = new Device(), keepRows = false } = options;
  const network = options.network ?? (await FlakyProxy.start(url));
  const auth = createAuthClient(network.url, {
    sessionTokenStorage: device.sessionStorage,
    ...options.auth,
  });
  const client = createSvcClient({ api, baseUrl: network.url, auth, ...options.client });
  const refused: RefusedMutation[] = [];
  const outbox = createOutbox(client, { storage: device, onRefused: (each) => refused.push(each) });
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
      keepRows,
      startSync: true,
    }),
  );
  const close = () => {
    outbox.close();
    client.close();
    void notes.cleanup();
  };
  onTestFinished(async () => {
    close();
    if (!options.network) await network.stop();
  });
  const titles = () => [...notes.values()].map(({ title }) => title).sort();
  return {
    ...{ auth, client, outbox, notes, refused, device, network, close, titles },
    idOf: (title: string) => [...notes.values()].find((each) => each.title === title)?.id ?? Number.NaN,
    rename: (from: string, to: string) => {
      const { id } = [...notes.values()].find(({ title }) => title === from) ?? { id: Number.NaN };
      return notes.update(id, (draft) => {
        draft.title = to;
      });
    },
    offline() {
      network.fault = () => ({ kind: "refuse" });
      network.breakSome(1);
    },
    online() {
      network.fault = () => ({ kind: "none" });
    },
    /** The same device, later. */
    reload(changed: PageOptions = {}) {
      close();
      return offlinePage(url, { ...options, device, network, ...changed });
    },
  };
}
