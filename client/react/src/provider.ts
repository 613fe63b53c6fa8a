/**
 * `SvcProvider`: gives the hooks their client, and a cache that belongs to the signed-in user.
 * Next hop: `use-query.ts`, `use-mutation.ts`, `use-auth.ts`.
 */
"use client";

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, type ReactNode, useEffect, useState } from "react";
import { type AnyClient, ClientContext } from "./client-context.ts";
import { useAuthState } from "./use-auth.ts";

export interface SvcProviderProps {
  /** From `createSvcClient`. */
  apiClient: AnyClient;
  /** The application's own TanStack Query client. (Default: one of the provider's) */
  queryClient?: QueryClient | undefined;
  children?: ReactNode | undefined;
}

/**
 * Wraps all components that use the hooks.
 *
 * @example
 * const App = () => <SvcProvider apiClient={client}><Tasks /></SvcProvider>;
 */
export function SvcProvider({ apiClient, queryClient, children }: SvcProviderProps) {
  const [own] = useState(() => queryClient ?? createQueryClient());
  return createElement(
    ClientContext.Provider,
    { value: apiClient },
    createElement(QueryClientProvider, { client: queryClient ?? own }, createElement(ForgetOthers, { own }), children),
  );
}

/** No retries here: the SDK already retries where that is safe, and both together would multiply. */
const createQueryClient = () =>
  new QueryClient({ defaultOptions: { queries: { retry: false }, mutations: { retry: false } } });

/** Removes a user's cached results when another user signs in, or the user signs out. */
function ForgetOthers({ own }: { own: QueryClient }) {
  const user = useAuthState().user?.id ?? null;
  useEffect(() => {
    own.removeQueries({ predicate: ({ queryKey }) => queryKey[0] === "svc" && queryKey[1] !== user });
  }, [own, user]);
  return null;
}
