/**
 * What the clients do meanwhile: users who make marks and note which were acknowledged, and users who watch the list. Both
 * by the SDK, as a page would.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "./app/web/svc/api.ts";

export interface Acknowledgement {
  key: string;
  /** When the answer came, in milliseconds by `performance.now()`. */
  at: number;
}

async function newUser(baseUrl: string, name: string) {
  const auth = createAuthClient(baseUrl, { sessionTokenStorage: "memory" });
  await auth.signUp(`${name}@example.com`, "a long enough password", name);
  return createSvcClient({ api, baseUrl, auth, timeoutMs: 20_000 });
}

export class Load {
  readonly acknowledged: Acknowledgement[] = [];
  /** Those whose call failed: they may have been carried out or not. */
  readonly unanswered: string[] = [];
  readonly watchers: Watcher[] = [];
  readonly #baseUrl: string;
  readonly #stopping = new AbortController();
  readonly #writing: Promise<void>[] = [];

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** @param writers users that write without a pause, and each of whom watches too */
  async start(writers: number, pauseMs: number): Promise<void> {
    for (let index = 0; index < writers; index++) {
      const client = await newUser(this.#baseUrl, `user${index}`);
      const watcher = new Watcher(client);
      this.watchers.push(watcher);
      this.#writing.push(this.#write(client, watcher, pauseMs));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#writing);
  }

  close(): void {
    for (const watcher of this.watchers) watcher.close();
  }

  async #write(client: Awaited<ReturnType<typeof newUser>>, watcher: Watcher, pauseMs: number): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const key = crypto.randomUUID();
      try {
        await client.mutate(api.marks.add, { key });
        this.acknowledged.push({ key, at: performance.now() });
        watcher.own.push(key);
      } catch {
        this.unanswered.push(key);
        watcher.own.push(key);
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** A user's list, as it is shown. */
export class Watcher {
  /** What this user tried to write. */
  readonly own: string[] = [];
  total = 0;
  readonly #client: Awaited<ReturnType<typeof newUser>>;
  readonly #end: () => void;

  constructor(client: Awaited<ReturnType<typeof newUser>>) {
    this.#client = client;
    this.#end = client.watch(api.marks.list, { limit: 1 }, (page) => {
      this.total = page.total;
    });
  }

  get isLive(): boolean {
    return this.#client.realtime.getStatus() === "live";
  }

  close(): void {
    this.#end();
    this.#client.close();
  }
}
