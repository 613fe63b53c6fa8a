/**
 * The mutations that the two clients of the start page send, and the frames that their sockets get. `glass-strip.tsx` shows
 * the last ones.
 */
import type { Name } from "./guests.ts";

export interface Call {
  who: Name;
  name: string;
  args: string;
  /** As performance.now(). */
  began: number;
  /** Once it is answered. */
  milliseconds?: number;
  status?: number;
}

const listeners = new Set<(call: Call) => void>();

/** @param listener hears of each call twice: when it is sent and when it is answered @returns stops it */
export function onCall(listener: (call: Call) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const tell = (call: Call) => {
  for (const listener of listeners) listener(call);
};

/** `fetch` for the client of one person. */
export const observed =
  (who: Name): typeof fetch =>
  async (input, init) => {
    const isMutation = String(input).endsWith("/api/mutation") && typeof init?.body === "string";
    if (!isMutation) return fetch(input, init);
    const { name, args } = JSON.parse(init.body as string);
    const call: Call = { who, name, args: JSON.stringify(args), began: performance.now() };
    tell(call);
    const response = await fetch(input, init);
    tell({ ...call, milliseconds: performance.now() - call.began, status: response.status });
    return response;
  };

const frameListeners = new Set<(who: Name, frame: string) => void>();

/** @param listener hears of each frame that tells of a change @returns stops it */
export function onFrame(listener: (who: Name, frame: string) => void): () => void {
  frameListeners.add(listener);
  return () => void frameListeners.delete(listener);
}

/** `WebSocket` for the client of one person. */
export const observedSocket = (who: Name): typeof WebSocket =>
  class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener("message", ({ data }) => {
        if (!("xid" in JSON.parse(data))) return;
        for (const listener of frameListeners) listener(who, data);
      });
    }
  };
