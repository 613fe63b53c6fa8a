/** A client of a real service, in a document, for the tests of the React bindings. */
import { render } from "@testing-library/react";
import { createElement as h } from "react";
import WebSocket from "ws"; // the document's own WebSocket sends another origin
import { SvcProvider } from "../../client/react/src/index.ts";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { api } from "../fixture/web/svc/api.ts";
import type { TestService } from "../support/service.ts";

/** A client whose requests can be held back. */
export function connectTo(running: TestService) {
  let gate = Promise.resolve();
  let isHeld: (request: string) => boolean = () => false;
  const held: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = `${input} ${init?.body}`;
    if (isHeld(request)) {
      held.push(request);
      await gate;
    }
    return globalThis.fetch(input, init);
  };
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  const client = createSvcClient({ api, baseUrl: running.url, auth, fetch, WebSocket: WebSocket as never });
  /** Holds requests whose address and body contain a text until the returned function is called. */
  const hold = (part = "/api/mutation") => {
    isHeld = (request) => request.includes(part);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return () => {
      isHeld = () => false;
      resolve();
    };
  };
  const signUp = () => auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  return { auth, client, hold, held, signUp };
}
export type Client = ReturnType<typeof connectTo>["client"];

export const show = (client: Client, component: () => ReturnType<typeof h>) =>
  render(h(SvcProvider, { apiClient: client }, h(component)));
