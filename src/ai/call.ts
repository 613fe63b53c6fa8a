/**
 * The running call that the AI module works for. `ai` is imported, not passed, so it finds the call here: in the handler,
 * its middleware or its workflow step.
 * Next hop: `create-ai.ts`.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ContextStorage } from "../contract/storage.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { StoredFile } from "../storage/read-file.ts";
import type { AiServices } from "./services.ts";

/** The call that is running. */
export interface AiCall {
  services: AiServices;
  /** Null for the system, and for callers that nobody is signed in to. */
  userId: string | null;
  /** Whose files are read and written. */
  storage: ContextStorage;
  /** One of them whole; no transaction is held open for it. */
  readFile(storageId: string): Promise<StoredFile>;
  /** What commits with the call. */
  transaction: RequestTransaction;
}

const calls = new AsyncLocalStorage<() => AiCall>();

/** Runs `work` as the given call. The call is put together when AI is used, which most calls do not. */
export const withAiCall = <T>(call: () => AiCall, work: () => T): T => calls.run(call, work);

/** @throws Error outside of a handler */
export function currentAiCall(): AiCall {
  const call = calls.getStore();
  if (call) return call();
  throw new Error("The AI module was used outside of a handler: it needs the handler's user and credit limit.");
}
