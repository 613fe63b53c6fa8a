/**
 * The caller of the current request: its network, and whether its client is still connected. It is kept for the whole
 * request below /api/auth, so every password hash can read it.
 * Next hop: `src/auth/passwords/hash-queue.ts` reads it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Request, Response } from "express";
import { networkOf } from "../http/client-address.ts";
import { leftSignal } from "../http/left-signal.ts";
import { signedAddressOf } from "../http/signed-client-address.ts";

export interface Caller {
  /** See `networkOf`. */
  network: string;
  /** Aborts when the client closes the connection before it has its answer. */
  left: () => AbortSignal;
  /** In seconds, after a refused user. Plugins make errors of their own out of refusals, without this. */
  retryAfter?: number | undefined;
}

const callers = new AsyncLocalStorage<Caller>();

/** The client's address: from the bridge's signed header, else from the connection and its trusted proxies. */
export const addressOf = (request: Request): string | undefined => signedAddressOf(request) ?? request.ip;

/** Runs `answer` with the request's caller. Call it after the bridge's header has been read. */
export function asCaller(request: Request, response: Response, answer: () => void): void {
  // Created on demand: most requests never wait, so they need no signal.
  let signal: AbortSignal | undefined;
  const left = () => {
    signal ??= leftSignal(response);
    return signal;
  };
  callers.run({ network: networkOf(addressOf(request)), left }, answer);
}

export const actAs = <T>(caller: Caller, act: () => T): T => callers.run(caller, act);

/** undefined outside of a request, for example when trusted code creates users */
export const currentCaller = (): Caller | undefined => callers.getStore();
