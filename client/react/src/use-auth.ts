/** `useAuth`: the signed-in user, and actions to sign in and out. */
"use client";

import type { AuthClient, AuthState } from "@svc/client";
import { useMemo, useSyncExternalStore } from "react";
import { useSvcClient } from "./client-context.ts";

const nobody: AuthState = Object.freeze({ token: null, user: null, isAuthenticated: false });
const never = () => () => {};

/** On a server, and during hydration, nobody is signed in, because only the browser knows the user. */
export function useAuthState(): AuthState {
  const { auth } = useSvcClient();
  return useSyncExternalStore(auth?.subscribe ?? never, auth?.getState ?? (() => nobody), () => nobody);
}

/**
 * Whose results a component shows, by id. While a page hydrates the state says nobody, but requests are made as the user:
 * their results must not be kept for nobody.
 */
export function useCaller(): string | null {
  const { auth } = useSvcClient();
  useAuthState();
  return auth?.getState().user?.id ?? null;
}

const names = [
  "signIn",
  "signUp",
  "signOut",
  "signInSocial",
  "completeSocialSignIn",
  "call",
  "requestPasswordReset",
  "resetPassword",
  "changePassword",
  "sendVerificationEmail",
  "signOutEverywhere",
  "deleteUser",
] as const;

type Actions = Pick<AuthClient, (typeof names)[number]>;

/**
 * The state of authentication, which updates, with the client's actions.
 *
 * @throws Error if the client has no `auth`, as soon as an action is used
 * @example
 * const { user, isAuthenticated, signOut } = useAuth();
 */
export function useAuth(): AuthState & Actions {
  const { auth } = useSvcClient();
  const state = useAuthState();
  return useMemo(() => ({ ...state, ...actions(auth) }), [state, auth]);
}

function actions(auth: AuthClient | undefined): Actions {
  const missing = () => Promise.reject(new Error("This client has no auth. Pass one to createSvcClient({ auth })."));
  return Object.fromEntries(names.map((name) => [name, auth?.[name] ?? missing])) as unknown as Actions;
}
