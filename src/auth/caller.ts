/**
 * Who sends the request that is being answered: its network, and whether its client is still connected. Kept for the
 * whole of a request below /api/auth, so that no code on the way to a password hash can leave it out.
 * Next hop: `src/auth/passwords/hash-queue.ts` reads it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Request, Response } from "express";
import { networkOf } from "../http/client-address.ts";
import { handedAddress } from "../http/signed-client-address.ts";

export interface Caller {
  /** See `networkOf`. */
  network: string;
  /** Aborts when the client closes the connection before it has its answer. */
  left: () => AbortSignal;
}

const callers = new AsyncLocalStorage<Caller>();

/** The client's address, as its bridge, or else its connection and the proxies that are believed, tell it. */
export const addressOf = (request: Request): string | undefined => handedAddress(request) ?? request.ip;

/** Answers a request as one of its caller. Call it after the bridge's header was read. */
export function asCaller(request: Request, response: Response, answer: () => void): void {
  // Most requests never wait for anything: they need no signal.
  let signal: AbortSignal | undefined;
  const left = () => {
    signal ??= signalOf(response);
    return signal;
  };
  callers.run({ network: networkOf(addressOf(request)), left }, answer);
}

/** undefined outside of a request, for example for code that creates users. */
export const currentCaller = (): Caller | undefined => callers.getStore();

function signalOf(response: Response): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.destroyed || response.closed) abort();
  else response.once("close", abort);
  return controller.signal;
}
