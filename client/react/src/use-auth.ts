/** `useAuth`: the signed-in user, and actions to sign in and out. */
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

type Actions = Pick<AuthClient, "signIn" | "signUp" | "signOut" | "signInSocial" | "completeSocialSignIn">;

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
  if (auth) {
    const { signIn, signUp, signOut, signInSocial, completeSocialSignIn } = auth;
    return { signIn, signUp, signOut, signInSocial, completeSocialSignIn };
  }
  const missing = () => Promise.reject(new Error("This client has no auth. Pass one to createSvcClient({ auth })."));
  return {
    signIn: missing,
    signUp: missing,
    signOut: missing,
    signInSocial: missing,
    completeSocialSignIn: missing,
  };
}
