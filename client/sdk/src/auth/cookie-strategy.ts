/**
 * Cookie mode: the browser stores the session where scripts cannot read it, and sends it with each request.
 * Next hop: none; the server decides about every call.
 */
import { SvcError } from "../error.ts";
import { toUser, type User } from "./state.ts";
import { cookieKey, followOtherTabs, type SessionStorage } from "./storage.ts";
import type { Credentials, Strategy, StrategyParts } from "./strategy.ts";

export interface CookieParts extends StrategyParts {
  storage: SessionStorage;
  /** Where a browser begins a social sign-in. */
  social: string;
}

export function cookieStrategy({ state, request, storage, social }: CookieParts): Strategy {
  /** Another object after each sign-in and sign-out: an answer to an earlier request must not change the later state. */
  let era: Credentials = { credentials: "include" };

  const show = (user: User | null) => {
    era = { ...era };
    state.set(user, null);
  };

  const enter = (answer: unknown): User => {
    const user = toUser((answer as { user?: unknown } | null)?.user);
    show(user);
    return user;
  };

  /** Tells the other tabs: they send the same cookie. */
  const tell = () => storage.setItem(cookieKey, String(Math.random()));

  const begin = (answer: unknown): User => {
    const user = enter(answer);
    tell();
    return user;
  };

  const stopListening = followOtherTabs(cookieKey, () => {
    era = { ...era };
    strategy.restore().catch(() => {});
  });

  const strategy: Strategy = {
    signIn: async (email, password) => begin(await request("/sign-in/email", { json: { email, password } })),
    signUp: async (email, password, name) =>
      begin(await request("/sign-up/email", { json: { email, password, name } })),
    async signOut() {
      // Only the server can remove the cookie: if this fails, the user is still signed in.
      await request("/sign-out");
      show(null);
      tell();
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
      tell();
      if (user) return user;
      throw new SvcError("UNAUTHORIZED", "The sign-in did not complete.", { status: 401 });
    },
    async call(path, options) {
      const before = state.get().user?.id;
      const answer = await request(path, options);
      // Only the browser sees whether the answer has set or removed the cookie.
      if ((await strategy.restore())?.id !== before) tell();
      return answer;
    },
    socialUrl: (provider, callbackURL) =>
      `${social}?${new URLSearchParams({ provider, callbackURL, oauthReturnMode: "cookie" })}`,
    credentials: async () => era,
    refused(used) {
      // The cookie is missing or expired. The state is cleared; the call itself still fails.
      if (used === era) show(null);
      return false;
    },
    close: stopListening,
  };
  return strategy;
}
