/** What a way of being signed in has to offer, and what all of them are given. */
import type { RequestOptions } from "../request.ts";
import type { StateStore, User } from "./state.ts";

/** What a call takes along. */
export type Credentials = Pick<RequestOptions, "headers" | "credentials">;

/** One of `token-strategy.ts`, `cookie-strategy.ts`. */
export interface Strategy {
  signIn(email: string, password: string): Promise<User>;
  signUp(email: string, password: string, name: string): Promise<User>;
  signOut(): Promise<void>;
  /** Finds out who is signed in, after a reload. */
  restore(): Promise<User | null>;
  completeSocialSignIn(code: string | undefined): Promise<User>;
  /** Where a browser begins a social sign-in. */
  socialUrl(provider: string, callbackURL: string): string;
  /** What calls take along; refreshes what has expired. */
  credentials(signal: AbortSignal): Promise<Credentials>;
  /** A call was answered 401. @returns whether it is worth repeating with fresh credentials */
  refused(used: Credentials): boolean;
  /** Stops listening to other tabs. */
  close(): void;
}

/** A request to the authentication endpoints, with a deadline of its own. */
export type AuthRequest = (path: string, options?: Partial<RequestOptions> & { json?: object }) => Promise<unknown>;

export interface StrategyParts {
  state: StateStore;
  request: AuthRequest;
}
