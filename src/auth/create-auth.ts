/**
 * Assembles authentication: `authenticate` identifies the caller, `router` has the endpoints below /api/auth.
 * Next hop: `src/auth/sessions/authenticate.ts`, and the endpoints in `routes/`.
 */
import { Router } from "express";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../contract/auth.ts";
import type { HandlerAuth } from "../contract/handler-auth.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import type { SignedClientAddress } from "../http/signed-client-address.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import type { Authenticate, Ended } from "../kit/session.ts";
import { Accounts } from "./accounts.ts";
import { askAuth } from "./ask-auth.ts";
import { asCaller } from "./caller.ts";
import { inEndpoint } from "./endpoint-context.ts";
import { handlerAuth } from "./handler-auth.ts";
import { createLibrary } from "./library.ts";
import { MailLinks } from "./mail/mail-links.ts";
import { Mails, type ShowMail } from "./mail/mails.ts";
import { OneTimeTokens } from "./mail/one-time-tokens.ts";
import type { AttemptLimits } from "./passwords/attempt-counters.ts";
import { Attempts } from "./passwords/attempts.ts";
import { Credentials } from "./passwords/credentials.ts";
import { HashQueue } from "./passwords/hash-queue.ts";
import { Passwords } from "./passwords/passwords.ts";
import { account } from "./routes/account.ts";
import { cookieStyle } from "./routes/cookie-style.ts";
import { currentSession } from "./routes/current-session.ts";
import { about } from "./routes/endpoint.ts";
import { mailLinks } from "./routes/mail-links.ts";
import { plugins } from "./routes/plugins.ts";
import { social } from "./routes/social.ts";
import { tokenStyle } from "./routes/token-style.ts";
import { createAuthenticate } from "./sessions/authenticate.ts";
import { Jwts } from "./sessions/jwt.ts";
import { KeyStore } from "./sessions/key-store.ts";
import { Revocations } from "./sessions/revocations.ts";
import { SessionCookie } from "./sessions/session-cookie.ts";
import { SessionStore } from "./sessions/session-store.ts";
import { SessionTokens } from "./sessions/session-token.ts";
import { VerifiedTokens } from "./sessions/verified-tokens.ts";
import { Flows } from "./social/flows.ts";
import { Provider, type ProviderSettings } from "./social/provider.ts";
import { SocialAccounts } from "./social/social-accounts.ts";
import { Sweeper } from "./sweeper.ts";
import { UserAdmin } from "./user-admin.ts";
import { type AdditionalFields, columnOf } from "./user-fields.ts";

export interface AuthOptions {
  /** Connections as svc_auth. The caller closes them. */
  pool: pg.Pool;
  /** Direct connection to the same database, with any login. It listens for revocations. */
  listenUrl: string;
  /** Newest first: the first one signs and encrypts, all of them verify and decrypt. */
  secrets: readonly string[];
  /** Our own origin issues the tokens. */
  origins: OriginPolicy;
  definition: AuthDefinition;
  /** Social sign-in; null switches it off. */
  google: ProviderSettings | null;
  limits: AttemptLimits;
  /** Verifies the client address that a bridge signs. (Default: no signed address is accepted) */
  handed?: SignedClientAddress;
  /** Outside production, a mail without a mailer is printed to the log. */
  production: boolean;
  /** Shows mails to the author, while developing. (Default: nobody sees them) */
  showMail?: ShowMail | undefined;
  log: Logger;
}

export interface Auth {
  authenticate: Authenticate;
  /** Mount it at /api/auth. */
  router: Router;
  /** One-time tokens, also for other endpoints. */
  once: OneTimeTokens;
  /** Whether the session with that id is still valid. */
  hasSession(id: string): Promise<boolean>;
  /** Calls back when sessions have ended or users have changed, in this process or another. One listener. */
  onEnd(listener: (ended: Ended) => void): void;
  /** Ends the sessions of a notice from the write-ahead log, and calls the listener before it returns. */
  hearEnd(notice: string): void;
  /** For `context.auth` of handlers. */
  forHandlers: HandlerAuth;
  /** Creates users and sessions for trusted code. */
  users: UserAdmin;
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
  const { pool, secrets, origins, definition, google, log } = options;
  const sessionTokens = new SessionTokens(secrets);
  const fields = await fieldsWithColumns(pool, definition.user?.additionalFields ?? {}, log);
  const attempts = new Attempts({ pool, secret: secrets[0] ?? "", limits: options.limits, log });
  const library = await createLibrary({ pool, secrets, origins, definition, fields, attempts, log });
  const { secretConfig } = library.context;
  if (typeof secretConfig === "string") throw new TypeError("The library did not take the list of secrets.");

  const keys = new KeyStore(pool, secretConfig, log);
  await keys.signingKey(); // a process that cannot sign must fail at start, not at the first sign-in

  const verified = new VerifiedTokens();
  const revocations = new Revocations({ url: options.listenUrl, pool, verified, log });
  const jwts = new Jwts({ keys, origin: origins.own, fields, pool, verified });
  const sessions = new SessionStore(pool, library, fields, verified);
  const sweeper = new Sweeper(pool, log);
  const cookie = new SessionCookie(origins.own.startsWith("https:"));
  const schemes = (definition.schemes ?? ["Bearer"]).map((scheme) => scheme.toLowerCase());
  const means = { schemes, jwts, verified, sessionTokens, sessions, cookie, origins };
  const authenticate = createAuthenticate(means);
  const hashQueue = new HashQueue(pool.options.max);
  const once = new OneTimeTokens(pool);
  const passwords = new Passwords(library, attempts, hashQueue, verified);
  const mails = new Mails({ definition, production: options.production, show: options.showMail, log });
  const links = new MailLinks({ library, passwords, attempts, once, mails, origins });
  if (links.isRequired && !mails.canSend("verification")) throw mailerMissing();
  const parts = {
    ...means,
    authenticate,
    keys,
    credentials: new Credentials({ library, passwords, attempts, links, sessions }),
    accounts: new Accounts({ library, passwords, attempts, verified }),
    attempts,
    passwords,
    hashQueue,
    links,
    once,
    library,
    social: {
      google: google && new Provider(google, origins.own, log),
      flows: new Flows(once, origins.own.startsWith("https:")),
      accounts: new SocialAccounts(library, log),
      modes: definition.oauth?.allowedReturnModes ?? (["token"] as const),
      log,
    },
  };
  // Strict paths: case and extra slashes count. Otherwise another spelling of a path would bypass its limit.
  const router = Router({ caseSensitive: true, strict: true });
  router.use((request, response, next) => {
    options.handed?.read(request);
    asCaller(request, response, () => void inEndpoint(library, request.path, about(request), next));
  });
  // Plugins come last, so they cannot replace our own endpoints.
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
    onEnd: (listener) => {
      verified.onEnd = listener;
    },
    hearEnd: (notice) => revocations.hear(notice),
    listens: () => revocations.begun(),
    forHandlers: handlerAuth(parts, fields),
    users: new UserAdmin(library, sessionTokens),
    hearsRevocations: () => verified.isTrusted,
    async close() {
      await mails.close();
      await Promise.all([revocations.close(), sweeper.close()]);
      verified.end({});
    },
  };
}

const mailerMissing = () =>
  new DefinitionError("Addresses must be verified, but no mailer is configured: nobody could sign in.", {
    hint: "Set emailVerification.sendVerificationEmail in auth.ts.",
  });

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
