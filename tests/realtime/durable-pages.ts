/** What sockets of tests ask of durable channels. */
import { expect } from "vitest";
import type { Socket } from "../support/sockets.ts";

interface Message {
  id: number;
  at: number;
  message: string;
  body: { json: { text: string } };
  from: unknown;
}

/** Stored messages, as the service sends them. */
export interface Page {
  after: number | null;
  until: number;
  last: number;
  gap: boolean;
  more: boolean;
  messages: Message[];
}

const timeout = 30_000;

/** The next page of stored messages. Removes it; frames before it stay. */
async function page(socket: Socket): Promise<Page> {
  const found = () => socket.frames.findIndex(({ data }) => data?.stored);
  await expect.poll(found, { timeout }).toBeGreaterThanOrEqual(0);
  return socket.frames.splice(found(), 1)[0].data.stored;
}

/** Joins, or asks again. */
export async function join(socket: Socket, query: string, asked: object = {}): Promise<Page> {
  socket.send({ type: "subscribe", query, follows: "a secret of the test", ...asked });
  return page(socket);
}

/** Joins, and asks for all pages. */
export async function joinAll(socket: Socket, query: string, asked: object): Promise<Page[]> {
  const pages = [await join(socket, query, asked)];
  for (let last = pages[0]; last?.more; last = pages.at(-1))
    pages.push(await join(socket, query, { after: last.until }));
  return pages;
}

let refs = 0;
export async function say(socket: Socket, query: string, text: string): Promise<void> {
  const ref = ++refs;
  socket.send({ type: "send", query, event: "said", data: { text }, ref });
  const answer = () => socket.frames.findIndex(({ data }) => data?.sent === ref || data?.failed === ref);
  await expect.poll(answer, { timeout }).toBeGreaterThanOrEqual(0);
  expect(socket.frames.splice(answer(), 1)[0].data).toEqual({ sent: ref });
}

/** All that came live, once so many did. */
export async function live(socket: Socket, count: number): Promise<Message[]> {
  const all = () => socket.frames.flatMap(({ data }) => (data?.message ? [data as Message] : []));
  await expect.poll(() => all().length, { timeout }).toBeGreaterThanOrEqual(count);
  return all();
}

export const said = (messages: readonly Message[]) => messages.map(({ body }) => body.json.text);
