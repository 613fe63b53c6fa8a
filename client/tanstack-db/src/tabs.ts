/** What the pages that use one storage tell each other, and that one of them sends at a time. */
import type { SvcError } from "@svc/client";
import type { Entry } from "./entry.ts";

/** An error can lose its members between pages. */
type ToldError = Pick<SvcError, "code" | "message" | "status" | "issues"> & { hint?: string };

export type Message =
  | { kind: "changed" | "settled" }
  | { kind: "saved"; entry: Entry; answer: unknown }
  | { kind: "refused"; entries: Entry[]; error: ToldError };

/** Runs alone, where there are Web Locks. Elsewhere idempotency keys are enough. @param storage its name */
export async function alone(storage: string | undefined, run: () => Promise<void>): Promise<void> {
  const { locks } = (globalThis.navigator ?? {}) as Partial<Navigator>;
  await (storage !== undefined && locks ? locks.request(channelOf(storage), run) : run());
}

/** @param storage its name @returns how to tell the other pages, and how to end it */
export function otherTabs(storage: string | undefined, hear: (message: Message) => void) {
  if (storage === undefined || typeof BroadcastChannel === "undefined") return { tell(_: Message) {}, close() {} };
  const channel = new BroadcastChannel(channelOf(storage));
  (channel as { unref?(): void }).unref?.(); // Node: it must not keep a program running
  channel.onmessage = ({ data }) => hear(data as Message);
  let isOpen = true;
  return {
    tell: (message: Message) => isOpen && channel.postMessage(message),
    close() {
      isOpen = false;
      channel.close();
    },
  };
}

const channelOf = (storage: string) => `svc-outbox ${storage}`;
