/**
 * Authentication, put together: who is calling (`authenticate`) and the endpoints below /api/auth (`router`).
 * Next hop: `src/auth/sessions/authenticate.ts`, and the endpoints in `routes/`.
 */
import { Router } from "express";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../contract/auth.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import type { SignedClientAddress } from "../http/signed-client-address.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import type { Authenticate } from "../kit/session.ts";
import { Accounts } from "./accounts.ts";
import { ask } from "./ask.ts";
import { asCaller } from "./caller.ts";
import { createLibrary } from "./library.ts";
import { MailLinks } from "./mail/mail-links.ts";
import { Mails } from "./mail/mails.ts";
import { OneTimeTokens } from "./mail/one-time-tokens.ts";
import { type AttemptLimits, Attempts } from "./passwords/attempts.ts";
import { Credentials } from "./passwords/credentials.ts";
import { HashQueue } from "./passwords/hash-queue.ts";
import { Passwords } from "./passwords/passwords.ts";
import { account } from "./routes/account.ts";
import { cookieStyle } from "./routes/cookie-style.ts";
import { mailLinks } from "./routes/mail-links.ts";
import { plugins } from "./routes/plugins.ts";
import { social } from "./routes/social.ts";
import { tokenStyle } from "./routes/token-style.ts";
import { createAuthenticate } from "./sessions/authenticate.ts";
import { currentSession } from "./sessions/current-session.ts";
import { Jwts } from "./sessions/jwt.ts";
import { KeyStore } from "./sessions/key-store.ts";
import { Revocations } from "./sessions/revocations.ts";
import { SessionCookie } from "./sessions/session-cookie.ts";
import { SessionStore } from "./sessions/session-store.ts";
import { SessionTokens } from "./sessions/session-token.ts";
import { type EndListener, VerifiedTokens } from "./sessions/verified-tokens.ts";
import { createSocial } from "./social/create-social.ts";
import type { ProviderSettings } from "./social/provider.ts";
import { Sweeper } from "./sweeper.ts";
import { UserAdmin } from "./user-admin.ts";
import { type AdditionalFields, columnOf } from "./user-fields.ts";

export interface AuthOptions {
  /** Connections as svc_auth. They stay the caller's to close. */
  pool: pg.Pool;
  /** A direct connection to the same database, by any login: where revocations are heard. */
  listenUrl: string;
  /** Newest first: the first one signs and encrypts, all of them verify and decrypt. */
  secrets: readonly string[];
  /** Its own origin issues the tokens. */
  origins: OriginPolicy;
  definition: AuthDefinition;
  /** Social sign-in; null switches it off. */
  google: ProviderSettings | null;
  limits: AttemptLimits;
  /** Bridges, which ask in the name of others. (Default: nobody's word is taken) */
  handed?: SignedClientAddress;
  /** Outside production, mails for which there is no mailer are printed to the log. */
  production: boolean;
  log: Logger;
}

export interface Auth {
  authenticate: Authenticate;
  /** To be mounted at /api/auth. */
  router: Router;
  /** Tokens that work once, for other endpoints that need some. */
  once: OneTimeTokens;
  /** Whether the session with that id lasts. */
  hasSession(id: string): Promise<boolean>;
  /** Calls back when sessions have ended or users have changed, wherever that happened. */
  onEnd(listener: EndListener): void;
  /** Makes users and sessions for trusted code. */
  users: UserAdmin;
  /** Whether revocations are heard. Until they are, every call by JWT asks the database. */
  hearsRevocations(): boolean;
  /** Lets go of what is remembered about callers, once the mails under way are sent. */
  close(): Promise<void>;
}

/**
 * Builds authentication on a migrated database.
 *
 * @throws SvcError UNAVAILABLE when the database cannot be reached; TypeError without secrets; DefinitionError when
 *         addresses have to be verified and nothing sends the mails, or when a plugin cannot be mounted
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  const { pool, secrets, origins, definition, google, log } = options;
  const sessionTokens = new SessionTokens(secrets);
  const fields = await fieldsWithColumns(pool, definition.user?.additionalFields ?? {}, log);
  const library = await createLibrary({ pool, secrets, origins, definition, fields, log });
  const { secretConfig } = library.context;
  if (typeof secretConfig === "string") throw new TypeError("The library did not take the list of secrets.");

  const keys = new KeyStore(pool, secretConfig, log);
  await keys.signingKey(); // now rather than in the first sign-in, so that a process that cannot sign does not start

  const verified = new VerifiedTokens();
  const revocations = new Revocations({ url: options.listenUrl, pool, verified, log });
  const listening = () => revocations.listening;
  const jwts = new Jwts({ keys, origin: origins.own, fields, pool, verified, listening });
  const sessions = new SessionStore(pool, library, fields, verified);
  const sweeper = new Sweeper(pool, log);
  const cookie = new SessionCookie(origins.own.startsWith("https:"));
  const means = { jwts, sessionTokens, sessions, cookie, origins };
  const authenticate = createAuthenticate(means);
  const gate = new HashQueue(pool.options.max);
  const once = new OneTimeTokens(pool);
  const attempts = new Attempts({ pool, secret: secrets[0] ?? "", limits: options.limits, log });
  const passwords = new Passwords(library, attempts, gate);
  const mails = new Mails({ definition, production: options.production, log });
  const links = new MailLinks({ library, passwords, attempts, once, mails, origins });
  if (links.isRequired && !mails.canSend("verification")) throw unprovable();
  const parts = {
    ...means,
    authenticate,
    keys,
    credentials: new Credentials({ library, passwords, attempts, links }),
    accounts: new Accounts({ library, passwords, attempts }),
    attempts,
    gate,
    links,
    once,
    library,
    social: createSocial({ google, definition, origins, library, once, log }),
  };
  // Strict paths: letter case, doubled and trailing slashes count, so that a limit on a path has no other door.
  const router = Router({ caseSensitive: true, strict: true });
  router.use((request, response, next) => {
    options.handed?.read(request);
    asCaller(request, response, next);
  });
  // Plugins come last: they are not to take the place of what is ours.
  for (const family of [tokenStyle, cookieStyle, social, currentSession, account, mailLinks, plugins]) {
    family(router, parts);
  }
  revocations.start();
  sweeper.start();
  return {
    authenticate,
    router,
    once,
    hasSession: (id) => sessions.has(id),
    onEnd: (listener) => verified.onEnd(listener),
    users: new UserAdmin(library, sessionTokens),
    hearsRevocations: listening,
    async close() {
      await mails.close();
      await Promise.all([revocations.close(), sweeper.close()]);
      verified.forgetAll();
    },
  };
}

const unprovable = () =>
  new DefinitionError("Addresses are to be verified, and nothing sends the mails: nobody could sign in.", {
    hint: "Give emailVerification.sendVerificationEmail in auth.ts.",
  });

/** The declared additional fields that auth."user" has columns for. The others are announced and left out. */
async function fieldsWithColumns(pool: pg.Pool, declared: AdditionalFields, log: Logger): Promise<AdditionalFields> {
  if (Object.keys(declared).length === 0) return declared;
  const rows = await ask<{ name: string }>(pool, {
    name: "svc_list_user_columns",
    text: "select name from auth.list_user_columns() as name",
  });
  const columns = new Set(rows.map(({ name }) => name));
  const missing = Object.keys(declared).filter((field) => !columns.has(columnOf(field)));
  if (missing.length > 0) {
    log.warn({ fields: missing }, 'additional user fields without a column in auth."user" are ignored; migrate first');
  }
  return Object.fromEntries(Object.entries(declared).filter(([field]) => !missing.includes(field)));
}
