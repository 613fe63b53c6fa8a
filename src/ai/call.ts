/**
 * The running call that uses the AI module. `ai` is imported, not passed, so it finds the call here: in the handler,
 * its middleware or its workflow step.
 * Next hop: `create-ai.ts`.
 */
import type { ContextStorage } from "../contract/storage.ts";
import { nextCallId, runAsCall, runningCall } from "../kit/running-call.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { StoredFile } from "../storage/read-file.ts";
import type { Provider } from "./provider.ts";
import type { AiServices } from "./services.ts";

/** The running call. */
export interface AiCall {
  services: AiServices;
  /** Null for the system and for anonymous callers. */
  userId: string | null;
  /** Storage of the caller's files. */
  storage: ContextStorage;
  /** Reads a whole file without holding a transaction open. */
  readFile(storageId: string): Promise<StoredFile>;
  /** The call's transaction. */
  transaction: RequestTransaction;
}

/** Runs `work` as the given call. The call is only made when AI is used, since most calls do not use it. */
export const withAiCall = <T>(make: () => AiCall, work: () => T, id = nextCallId()): T => runAsCall(id, make, work);

/** @throws Error outside of a handler */
export function currentAiCall(): AiCall {
  const make = runningCall() as (() => AiCall) | undefined;
  if (make) return make();
  throw new Error("The AI module was used outside of a handler: it needs the handler's user and credit limit.");
}

/** @throws SvcError AI_NOT_CONFIGURED when the model's provider lacks the operation */
export function able<K extends keyof Provider>(call: AiCall, model: string, what: K): NonNullable<Provider[K]> {
  const can = call.services.providerOf(model)[what];
  if (can) return can as NonNullable<Provider[K]>;
  throw new SvcError("AI_NOT_CONFIGURED", undefined, {
    hint: `The model "${model}" cannot ${what}. Use another model.`,
  });
}
