/** The interface of the sign-in strategies, and their common settings. */
import type { RequestOptions } from "../request.ts";
import type { StateStore, User } from "./state.ts";

/** Credentials of a call. */
export type Credentials = Pick<RequestOptions, "headers" | "credentials">;

/** One of `token-strategy.ts`, `cookie-strategy.ts`. */
export interface Strategy {
  signIn(email: string, password: string): Promise<User>;
  signUp(email: string, password: string, name: string): Promise<User>;
  signOut(): Promise<void>;
  /** Finds the signed-in user after a reload. */
  restore(): Promise<User | null>;
  completeSocialSignIn(code: string | undefined): Promise<User>;
  /** Calls an endpoint of a plugin as the signed-in user, and takes over the session that its answer opens. */
  call(path: string, options: PluginCallOptions): Promise<unknown>;
  /** The URL at which a browser begins a social sign-in. */
  socialUrl(provider: string, callbackURL: string): string;
  /** Credentials for calls; refreshes expired ones. */
  credentials(signal: AbortSignal): Promise<Credentials>;
  /** A call was answered 401. @returns whether it is worth repeating with fresh credentials */
  refused(used: Credentials): boolean;
  /** Stops listening to other tabs. */
  close(): void;
}

/** A request to the authentication endpoints, with its own timeout. */
export type AuthRequest = (path: string, options?: Partial<RequestOptions> & { json?: object }) => Promise<unknown>;

/** Of a call of a plugin's endpoint. */
type PluginCallOptions = Pick<RequestOptions, "method"> & { json?: object };

export interface StrategyParts {
  state: StateStore;
  request: AuthRequest;
}
