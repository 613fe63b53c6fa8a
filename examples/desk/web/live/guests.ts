/**
 * Two guests of this window, each with a client and a session of their own. They are created at the first visit, with
 * some cards, and kept by the browser.
 */
import { createAuthClient, createSvcClient } from "@svc/client";
import { baseUrl } from "../client.ts";
import { api } from "../svc/api.ts";
import { observed, observedSocket } from "./calls.ts";

const people = {
  Ann: [
    { title: "Order paper", isShared: true },
    { title: "Ask for a raise", isShared: false },
    { title: "Water the plants", isShared: true },
  ],
  Bob: [
    { title: "Fix the printer", isShared: true },
    { title: "Plan a party for Ann", isShared: false },
  ],
};
export type Name = keyof typeof people;
export const names = Object.keys(people) as Name[];

const key = (name: Name) => `desk guest ${name}`;

async function enter(name: Name) {
  const auth = createAuthClient(baseUrl, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl, auth, fetch: observed(name), WebSocket: observedSocket(name) });
  const kept = localStorage.getItem(key(name));
  if (kept) {
    const { email, password } = JSON.parse(kept);
    try {
      await auth.signIn(email, password);
      return { name, client };
    } catch {
      // The database is another one than at the last visit.
    }
  }
  const email = `${name.toLowerCase()}-${crypto.randomUUID()}@guests.example`;
  const password = crypto.randomUUID();
  await auth.signUp(email, password, name);
  localStorage.setItem(key(name), JSON.stringify({ email, password }));
  for (const card of people[name]) await client.mutate(api.cards.create, card);
  return { name, client };
}

export type Guest = Awaited<ReturnType<typeof enter>>;

export const enterGuests = () => Promise.all(names.map(enter));
