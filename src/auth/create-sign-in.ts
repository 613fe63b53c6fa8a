/**
 * Assembles everything that needs better-auth: the endpoints below /api/auth, and acts on accounts for handlers and trusted
 * code. `create-auth.ts` loads it on demand.
 * Next hop: `library.ts`, and the endpoints in `routes/`.
 */
import type { Router } from "express";
import type pg from "pg";
import type { HandlerAuth } from "../contract/handler-auth.ts";
import type { SignedClientAddress } from "../http/signed-client-address.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { Accounts } from "./accounts.ts";
import { ApiKeys } from "./api-keys/api-keys.ts";
import { asCaller } from "./caller.ts";
import { inEndpoint } from "./endpoint-context.ts";
import { handlerAuth } from "./handler-auth.ts";
import { createLibrary } from "./library.ts";
import type { Library } from "./library-types.ts";
import { MailLinks } from "./mail/mail-links.ts";
import { Mails, type ShowMail } from "./mail/mails.ts";
import { warnOfMissingColumns } from "./missing-columns.ts";
import type { AttemptLimits } from "./passwords/attempt-counters.ts";
import { Attempts } from "./passwords/attempts.ts";
import { Credentials } from "./passwords/credentials.ts";
import { HashQueue } from "./passwords/hash-queue.ts";
import { Passwords } from "./passwords/passwords.ts";
import { PluginMessages } from "./plugins/plugin-messages.ts";
import { sealCodes } from "./plugins/sealed-codes.ts";
import { takeStatesOnce } from "./plugins/states-once.ts";
import { account } from "./routes/account.ts";
import { apiKeys, refuseKeys } from "./routes/api-keys.ts";
import { cookieStyle } from "./routes/cookie-style.ts";
import { currentSession } from "./routes/current-session.ts";
import { type AuthParts, about } from "./routes/endpoint.ts";
import { mailLinks } from "./routes/mail-links.ts";
import { plugins } from "./routes/plugins.ts";
import { social } from "./routes/social.ts";
import { tokenStyle } from "./routes/token-style.ts";
import type { AuthenticateOptions } from "./sessions/authenticate.ts";
import { Flows } from "./social/flows.ts";
import { openProviders, type ProviderOptions } from "./social/providers.ts";
import { SocialAccounts } from "./social/social-accounts.ts";
import { endUnprovenAccess } from "./unproven-access.ts";
import { UserAdmin } from "./user-admin.ts";
import type { AdditionalFields } from "./user-fields.ts";

export interface SignInOptions extends ProviderOptions {
  /** Connections as svc_auth. The caller closes them. */
  pool: pg.Pool;
  /** Newest first: the first one signs and encrypts, all of them verify and decrypt. */
  secrets: readonly string[];
  limits: AttemptLimits;
  /** Verifies the client address that a bridge signs. (Default: no signed address is accepted) */
  handed?: SignedClientAddress;
  /** Shows mails to the author, while developing. (Default: nobody sees them) */
  showMail?: ShowMail | undefined;
}

/** What `create-auth.ts` needs for identifying callers anyway. */
interface Means extends AuthenticateOptions, Pick<AuthParts, "authenticate" | "jwts" | "once"> {
  /** The declared fields that have a column. */
  fields: AdditionalFields;
}

export interface SignIn {
  library: Library;
  /** For `context.auth` of handlers. */
  forHandlers: HandlerAuth;
  /** Creates users and sessions for trusted code. */
  users: UserAdmin;
  /** Adds the endpoints to a router at /api/auth. */
  mount(router: Router): void;
  /** Waits for mails and messages that are being sent. */
  close(): Promise<void>;
}

/** @throws DefinitionError as `createAuth` */
export async function createSignIn(options: SignInOptions, means: Means): Promise<SignIn> {
  const { pool, secrets, origins, definition, log } = options;
  const { fields, once, sessions, sessionTokens, verified } = means;
  const attempts = new Attempts({ pool, secret: secrets[0] ?? "", limits: options.limits, log });
  const messages = new PluginMessages(log);
  const library = await createLibrary({ pool, secrets, origins, definition, fields, attempts, messages, log });
  if (definition.betterAuth) await warnOfMissingColumns(pool, library, log);
  endUnprovenAccess(library);
  sealCodes(library);
  takeStatesOnce(library);
  const passwords = new Passwords(library, attempts, new HashQueue(pool.options.max), verified);
  const mails = new Mails({ definition, production: options.production, show: options.showMail, log });
  const links = new MailLinks({ library, passwords, attempts, once, mails, origins });
  if (links.isRequired && !mails.canSend("verification")) throw mailerMissing();
  const parts: AuthParts = {
    ...means,
    credentials: new Credentials({ library, passwords, attempts, links, sessions }),
    accounts: new Accounts({ library, passwords, attempts, verified }),
    attempts,
    passwords,
    links,
    library,
    social: {
      providers: openProviders(options),
      flows: new Flows(once, origins.own.startsWith("https:")),
      accounts: new SocialAccounts(library, log),
      modes: definition.oauth?.allowedReturnModes ?? (["token"] as const),
      log,
    },
  };
  return {
    library,
    forHandlers: handlerAuth(parts, fields),
    users: new UserAdmin(library, sessionTokens),
    mount(router) {
      if (definition.apiKeys) refuseKeys(router, means.schemes, definition.apiKeys.prefix);
      router.use((request, response, next) => {
        options.handed?.read(request);
        asCaller(request, response, () => void inEndpoint(library, request.path, about(request), next));
      });
      if (definition.apiKeys) apiKeys(router, parts, new ApiKeys(pool, definition.apiKeys));
      // Plugins come last, so they cannot replace our own endpoints.
      for (const family of [tokenStyle, cookieStyle, social, currentSession, account, mailLinks, plugins]) {
        family(router, parts);
      }
    },
    async close() {
      await Promise.all([mails.close(), messages.close()]);
    },
  };
}

const mailerMissing = () =>
  new DefinitionError("Addresses must be verified, but no mailer is configured: nobody could sign in.", {
    hint: "Set emailVerification.sendVerificationEmail in auth.ts.",
  });
