// If this file fails, a chat as in docs/how-to/chat.md loses answers, stores them twice, or shows them to others.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { aiProvider } from "../support/ai-provider.ts";
import { documented } from "./documented.ts";

const provider = aiProvider();
const page = documented("docs/how-to/chat.md", undefined, () => ({ AI_BASE_URL: provider.url }));
const { db, person, call, lint } = page;

const headersOf = (token: string) => ({ "content-type": "application/json", authorization: `Bearer ${token}` });
const ask = (token: string, conversationId: number, signal?: AbortSignal) =>
  fetch(`${page.url()}/api/ask`, {
    method: "POST",
    headers: headersOf(token),
    body: JSON.stringify({ conversationId, text: "How deep?" }),
    ...(signal && { signal }),
  });
const begin = async (token: string) =>
  (await call("mutation", token, "conversations.create", { title: "Berths" })).body.json.id;
const stored = async (token: string, conversationId: number) =>
  (await call("query", token, "messages.list", { conversationId })).body.json.map(
    ({ content, state }: { content: string; state: string }) => `${state}: ${content}`,
  );

/** Says one piece, then nothing more. */
async function* silent() {
  yield "Two ";
  await sleep(60_000, undefined, { ref: false });
}

test("an answer is stored once, and is part of the next question", async () => {
  const ann = await person("ann");
  const id = await begin(ann.token);
  expect(await (await ask(ann.token, id)).text()).toBe("one two three");
  await expect.poll(() => stored(ann.token, id)).toEqual(["complete: How deep?", "complete: one two three"]);
  await (await ask(ann.token, id)).text();
  expect(provider.asked[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
    "user",
    "assistant",
    "user",
  ]);
});

test("nobody asks in the conversation of another user, or reads it", async () => {
  const [bob, eve] = await Promise.all(["bob", "eve"].map(person));
  const id = await begin(bob.token);
  expect((await ask(eve.token, id)).status).toBe(404);
  await (await ask(bob.token, id)).text();
  expect(await stored(eve.token, id)).toEqual([]);
});

test("Stop keeps the text so far, also while the provider is silent, and it is paid once", async () => {
  const cleo = await person("cleo");
  const id = await begin(cleo.token);
  provider.reply = silent;
  const stop = new AbortController();
  const answer = await ask(cleo.token, id, stop.signal);
  await answer.body?.getReader().read();
  stop.abort();
  await expect.poll(() => stored(cleo.token, id)).toEqual(["complete: How deep?", "stopped: Two "]);
  const ledger = () => db.sql("select state from svc.ai_ledger where user_id = $1", [cleo.user.id]);
  await expect.poll(ledger).toEqual([{ state: "settled" }]);
});

test("a provider that fails at once is told, stored and not charged", async () => {
  const dan = await person("dan");
  const id = await begin(dan.token);
  provider.fault = (response) => {
    response.writeHead(401).end();
    return true;
  };
  expect((await ask(dan.token, id)).status).toBe(502);
  expect(await stored(dan.token, id)).toEqual(["complete: How deep?", "failed: "]);
});

test("a user who is deleted in the middle of an answer leaves no rows", async () => {
  const fay = await person("fay");
  const id = await begin(fay.token);
  provider.reply = silent;
  const answer = await ask(fay.token, id);
  const reader = answer.body?.getReader();
  await reader?.read();
  await db.sql(`delete from auth."user" where id = $1`, [fay.user.id]);
  await expect(reader?.read()).rejects.toThrow();
  await expect.poll(() => db.sql("select from svc.ai_ledger where state = 'reserved'")).toEqual([]);
  expect(await db.sql("select from messages where user_id = $1", [fay.user.id])).toEqual([]);
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
