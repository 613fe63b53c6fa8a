/**
 * Assembles authentication: `authenticate` identifies the caller, `mount` adds the endpoints below /api/auth. Sign-ins need
 * better-auth (`create-sign-in.ts`), JWTs need jose (`sessions/jwt.ts`). Outside production each is loaded at its first use: a
 * start without them is faster.
 * Next hop: `src/auth/sessions/authenticate.ts`; `create-sign-in.ts`, and the endpoints in `routes/`.
 */
import type { Router } from "express";
import type pg from "pg";
import type { Logger } from "pino";
import type { HandlerAuth } from "../contract/handler-auth.ts";
import { loadedOnce } from "../kit/loaded-once.ts";
import type { Authenticate, Ended, Session } from "../kit/session.ts";
import { KeyLookup } from "./api-keys/key-lookup.ts";
import { askAuth } from "./ask-auth.ts";
import type { SignIn, SignInOptions } from "./create-sign-in.ts";
import { OneTimeTokens } from "./mail/one-time-tokens.ts";
import { createAuthenticate } from "./sessions/authenticate.ts";
import { HeldSessions } from "./sessions/held-sessions.ts";
import { Revocations } from "./sessions/revocations.ts";
import { SessionCookie } from "./sessions/session-cookie.ts";
import { SessionStore } from "./sessions/session-store.ts";
import { SessionTokens } from "./sessions/session-token.ts";
import { VerifiedTokens } from "./sessions/verified-tokens.ts";
import { Sweeper } from "./sweeper.ts";
import { type AdditionalFields, columnOf } from "./user-fields.ts";

export interface AuthOptions extends SignInOptions {
  /** Direct connection to the same database, with any login. It listens for revocations. */
  listenUrl: string;
}

export interface Auth {
  authenticate: Authenticate;
  /** Adds the endpoints to a router at /api/auth. In production they are there when it resolves. */
  mount(router: Router): Promise<void>;
  /** One-time tokens, also for other endpoints. */
  once: OneTimeTokens;
  /** Whether the session with that id is still valid. */
  hasSession(id: string): Promise<boolean>;
  /** Calls back when sessions have ended or users have changed, in this process or another. */
  onEnd(listener: (ended: Ended) => void): void;
  /** Names sessions of sockets or streams, which end when these sessions expire. */
  holds(sessions: () => Iterable<Session>): void;
  /** Ends the sessions of a notice from the write-ahead log, and calls the listeners before it returns. */
  hearEnd(notice: string): void;
  /** For `context.auth` of handlers. */
  forHandlers(): Promise<HandlerAuth>;
  /** The part that needs better-auth, which is loaded now if it was not yet. */
  signIn(): Promise<SignIn>;
  /** Resolves when revocations are received, or cannot be for now. */
  listens(): Promise<void>;
  /** Whether revocations are received. Otherwise every call by JWT asks the database. */
  hearsRevocations(): boolean;
  /** Waits for mails that are being sent, then clears the cached callers. */
  close(): Promise<void>;
}

/**
 * Builds authentication on a migrated database.
 *
 * @throws SvcError UNAVAILABLE when the database cannot be reached; TypeError without secrets; DefinitionError when
 *   addresses must be verified and no mailer is configured, or when a plugin cannot be mounted
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  const { pool, secrets, origins, definition, log } = options;
  const sessionTokens = new SessionTokens(secrets);
  const fields = await fieldsWithColumns(pool, definition.user?.additionalFields ?? {}, log);
  const verified = new VerifiedTokens();
  const revocations = new Revocations({ url: options.listenUrl, pool, verified, log });
  const jwts = loadedOnce(async () => {
    const { openJwts } = await import("./sessions/jwt.ts");
    return openJwts({ secrets, origin: origins.own, fields, pool, verified, log });
  });
  const verifyJwt = async (token: string) => (await jwts()).verify(token);
  const sessions = new SessionStore({ pool, library: async () => (await signIn()).library, fields, verified });
  const held = new HeldSessions({ pool, verified, log });
  const sweeper = new Sweeper(pool, log);
  const cookie = new SessionCookie(origins.own.startsWith("https:"));
  const schemes = (definition.schemes ?? ["Bearer"]).map((scheme) => scheme.toLowerCase());
  const once = new OneTimeTokens(pool);
  const { apiKeys } = definition;
  const keys = apiKeys && new KeyLookup({ apiKeys, pool, fields, verified, log });
  const means = { keys, schemes, verifyJwt, verified, sessionTokens, sessions, cookie, origins, once };
  const authenticate = createAuthenticate(means);

  let closeMails = async () => {};
  const signIn = loadedOnce(async () => {
    const { createSignIn } = await import("./create-sign-in.ts");
    const made = await createSignIn(options, { ...means, fields, authenticate, jwts: await jwts() });
    closeMails = made.close;
    return made;
  });
  // A mistake in what an application has chosen must end the start. In production nobody should wait for modules.
  if (options.production || definition.betterAuth || definition.social || definition.emailVerification?.required) {
    const { library } = await signIn();
    const { deviceCodeSweep } = await import("./plugins/device-codes.ts");
    sweeper.also = deviceCodeSweep(library);
    const { expiresIn, updateAge } = library.context.sessionConfig;
    const isFixed = library.context.options.session?.disableSessionRefresh === true;
    sessions.lifetimes = { expiresIn, updateAge: isFixed ? expiresIn : updateAge };
  }
  revocations.start();
  sweeper.start();
  return {
    authenticate,
    async mount(router) {
      const mounted = loadedOnce(async () => (await signIn()).mount(router));
      if (options.production) return mounted();
      router.use((_request, _response, next) => {
        mounted().then(() => next(), next);
      });
    },
    once,
    hasSession: (id) => sessions.has(id),
    onEnd: (listener) => {
      const others = verified.onEnd;
      verified.onEnd = (ended) => {
        others(ended);
        listener(ended);
      };
    },
    holds: (list) => held.add(list),
    hearEnd: (notice) => revocations.hear(notice),
    listens: () => revocations.begun(),
    forHandlers: async () => (await signIn()).forHandlers,
    signIn,
    hearsRevocations: () => verified.isTrusted,
    async close() {
      await closeMails();
      await keys?.close();
      await Promise.all([revocations.close(), sweeper.close(), held.close()]);
      verified.end({});
    },
  };
}

/** The declared additional fields that auth."user" has columns for. Other fields are logged and ignored. */
async function fieldsWithColumns(pool: pg.Pool, declared: AdditionalFields, log: Logger): Promise<AdditionalFields> {
  if (Object.keys(declared).length === 0) return declared;
  const rows = await askAuth<{ name: string }>(pool, "name from auth.list_user_columns() as name");
  const columns = new Set(rows.map(({ name }) => name));
  const missing = Object.keys(declared).filter((field) => !columns.has(columnOf(field)));
  if (missing.length > 0) {
    log.warn({ fields: missing }, 'additional user fields without a column in auth."user" are ignored; migrate first');
  }
  return Object.fromEntries(Object.entries(declared).filter(([field]) => !missing.includes(field)));
}
