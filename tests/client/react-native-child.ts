/**
 * A program that uses the SDK with the globals of React Native 0.86: `react-native.test.ts` runs it in a thread. Its parts
 * are called one after the other.
 */
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { parentPort, workerData } from "node:worker_threads";
import { WebSocket } from "ws";
import type { LaterStorage } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";

/** As of the package abort-controller 3: no reason, and no `throwIfAborted`. */
class OldSignal extends EventTarget {
  aborted = false;
}
class OldController {
  readonly signal = new OldSignal();
  abort(): void {
    this.signal.aborted = true;
    this.signal.dispatchEvent(new Event("abort"));
  }
}

/** Its answers have no stream. Node's own fetch needs the globals that are missing here. */
async function fetchOfReactNative(url: string, { method = "GET", headers, body, signal }: RequestInit = {}) {
  const bytes = body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, headers: headers as Record<string, string> }, resolve).on("error", reject);
    signal?.addEventListener("abort", () => sent.destroy());
    sent.end(bytes);
  });
  const status = answer.statusCode ?? 0;
  const received = await text(answer);
  const ok = status >= 200 && status < 300;
  return { ok, status, headers: new Headers(answer.headers as Record<string, string>), text: async () => received };
}

Object.assign(globalThis, {
  DOMException: undefined,
  ReadableStream: undefined,
  localStorage: undefined,
  AbortController: OldController,
  fetch: fetchOfReactNative,
  WebSocket,
});
const { createAuthClient, createSvcClient, loadStorage } = await import("../../client/sdk/src/index.ts");

const { url } = workerData as { url: string };
const stored = new Map<string, string>();
const AsyncStorage: LaterStorage = {
  getItem: async (key) => stored.get(key) ?? null,
  setItem: async (key, value) => stored.set(key, value),
  removeItem: async (key) => stored.delete(key),
};
/** As an app that was started. */
async function start() {
  const auth = createAuthClient(url, { sessionTokenStorage: await loadStorage(AsyncStorage) });
  return { auth, client: createSvcClient({ api, baseUrl: url, auth }) };
}
const failure = (call: Promise<unknown>) =>
  call.then(
    () => "none",
    (error) => error.code ?? error.name,
  );

const { auth, client } = await start();
const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
const shown: number[] = [];
await new Promise<void>((resolve) => {
  client.watch(api.notes.list, {}, ({ total }) => {
    shown.push(total);
    if (total === 1) resolve();
    else void client.mutate(api.notes.create, { title: "a" });
  });
});
const leaving = new AbortController();
leaving.abort();
const { id } = await client.upload(new Blob(["hello"]), { name: "a.txt" });
const parts: string[] = [];
for await (const part of client.stream("/healthz")) parts.push(part);
const failures = {
  late: await failure(client.query(api.notes.list, {}, { timeoutMs: 1 })),
  left: await failure(client.query(api.notes.list, {}, { signal: leaving.signal })),
};
const again = await start();
const found = again.auth.getState().user?.id === user.id && (await again.client.query(api.notes.list)).total;
await again.auth.signOut();
await new Promise((resolve) => setTimeout(resolve));
client.close();
again.client.close();
parentPort?.postMessage({
  shown,
  uploaded: typeof id,
  parts: parts.length,
  failures,
  found,
  stored: [...stored.keys()],
});
