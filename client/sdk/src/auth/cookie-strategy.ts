/**
 * Cookie mode: the browser stores the session where scripts cannot read it, and sends it with each request.
 * Next hop: none; the server decides about every call.
 */
import { SvcError } from "../error.ts";
import { toUser, type User } from "./state.ts";
import type { Strategy, StrategyParts } from "./strategy.ts";

export function cookieStrategy({ state, request }: StrategyParts, socialUrl: string): Strategy {
  /** Counts sign-ins and sign-outs: an answer to an earlier request must not change the later state. */
  let era = 0;

  const enter = (answer: unknown): User => {
    const user = toUser((answer as { user?: unknown } | null)?.user);
    era++;
    state.set(user, null);
    return user;
  };

  const strategy: Strategy = {
    signIn: async (email, password) => enter(await request("/sign-in/email", { json: { email, password } })),
    signUp: async (email, password, name) =>
      enter(await request("/sign-up/email", { json: { email, password, name } })),
    async signOut() {
      // Only the server can remove the cookie: if this fails, the user is still signed in.
      await request("/sign-out");
      era++;
      state.set(null, null);
    },
    async restore() {
      const begun = era;
      try {
        const answer = await request("/me", { method: "GET" });
        return begun === era ? enter(answer) : state.get().user;
      } catch (error) {
        if (!(error instanceof SvcError) || error.status !== 401) throw error;
        if (begun === era) state.set(null, null);
        return state.get().user;
      }
    },
    async completeSocialSignIn() {
      const user = await strategy.restore();
      if (user) return user;
      throw new SvcError("UNAUTHORIZED", "The sign-in did not complete.", { status: 401 });
    },
    async call(path, options) {
      const answer = await request(path, options);
      // Only the browser sees whether the answer has set or removed the cookie.
      await strategy.restore();
      return answer;
    },
    socialUrl: (provider, callbackURL) =>
      `${socialUrl}?${new URLSearchParams({ provider, callbackURL, oauthReturnMode: "cookie" })}`,
    credentials: async () => ({ credentials: "include" }),
    refused() {
      // The cookie is missing or expired. The state is cleared; the call itself still fails.
      era++;
      state.set(null, null);
      return false;
    },
    close() {},
  };
  return strategy;
}
