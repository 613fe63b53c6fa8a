/** The client that `SvcProvider` gives to the hooks. */
"use client";

import type { SvcClient } from "@svc/client";
import { createContext, useContext } from "react";

// biome-ignore lint/suspicious/noExplicitAny: the hooks take references, whatever api they come from
export type AnyClient = SvcClient<any>;

export const ClientContext = createContext<AnyClient | null>(null);

/** @throws Error outside of a `SvcProvider` */
export function useSvcClient(): AnyClient {
  const client = useContext(ClientContext);
  if (client) return client;
  throw new Error("There is no SvcProvider around this component. Put one around the application, with apiClient.");
}
