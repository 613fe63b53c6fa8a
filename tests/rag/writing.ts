/**
 * Shared by the tests of written answers: a service whose model writes what a test defines, and a document to write
 * about.
 */
import { expect } from "vitest";
import type { aiProvider } from "../support/ai-provider.ts";
import type { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { api, handbook } from "./application.ts";

type Provider = ReturnType<typeof aiProvider>;
type Database = ReturnType<typeof database>;

export const key = "sk-the-provider-key-0123456789";
export const scope = { corpus: "harbour", visibility: "private" };
export const fee = { claimText: "Every boat pays a mooring fee of 12 euros per night." };
export const crane = { claimText: "The crane lifts boats of at most 8 tonnes." };

/** The service, and a user who has ingested the handbook. */
export async function startWriting(db: Database, provider: Provider): Promise<{ svc: TestService; ann: User }> {
  const ai = { chatModel: "gpt-test", timeoutMs: 20_000, creditsPerRequest: 50, baseUrl: provider.url, apiKey: key };
  const svc = new TestService(db, api, { ai } as object);
  await svc.start();
  const ann = await svc.signUp("ann");
  await svc.mutate(ann, "docs.ingest", { title: "Handbook", markdown: handbook, scope });
  return { svc, ann };
}

interface Quoted {
  number: number;
  source: string;
  text: string;
}

/** The question and passages that the model received. */
export const quoted = (body: { messages: { content: string }[] }): { question: string; passages: Quoted[] } =>
  JSON.parse(body.messages[1]?.content ?? "");

/** Makes the model write a text; `[fees]` in it becomes the number of that section's passage. */
export function writes(provider: Provider, text: string): void {
  provider.reply = (body) =>
    text.replaceAll(/\[([a-z]+)\]/g, (_, section: string) => {
      const found = quoted(body).passages.find(({ source }) => source.toLowerCase().includes(section));
      return `[${found?.number ?? 99}]`;
    });
}

/** A reading transaction may end a moment after its answer. */
export const nobodyWaits = (db: Database) => {
  const idle =
    "datname = current_database() and state = 'idle in transaction' and query ~ 'svc.find_(evidence|passages)'";
  return expect.poll(() => db.sql(`select query from pg_stat_activity where ${idle}`)).toEqual([]);
};
