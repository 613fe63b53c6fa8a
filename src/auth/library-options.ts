/**
 * better-auth's options: our defaults, what the application's `betterAuth` hook makes of them, and what stays ours. Needs
 * no database, so that `svc codegen` knows the same tables as the running service.
 * Next hop: `library.ts` runs them, `src/auth/auth-tables.ts` reads their tables.
 */
import type { BetterAuthOptions } from "better-auth";
import type { AuthDefinition } from "../contract/auth.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { addressHeader } from "./library-types.ts";
import { checkPluginTables, inSnakeCase, pluginsInSnakeCase } from "./plugins/plugin-names.ts";
import { secondFactorRules } from "./second-factor-rules.ts";
import { type AdditionalFields, libraryFields } from "./user-fields.ts";

/** Where the library works, and with what: nothing that a hook may change. */
export type FixedOptions = Pick<
  BetterAuthOptions,
  "database" | "secrets" | "baseURL" | "trustedOrigins" | "basePath" | "telemetry" | "logger"
>;

type GenerateId = NonNullable<NonNullable<BetterAuthOptions["advanced"]>["database"]>["generateId"];

const days = 24 * 60 * 60;

/**
 * @param fields those declared fields that the library may use: at run time those that have a column
 * @throws DefinitionError when a plugin wants a table that is the platform's
 */
export function libraryOptions(
  { betterAuth, emailAndPassword, emailVerification }: AuthDefinition,
  fields: AdditionalFields,
  fixedOptions: FixedOptions,
): BetterAuthOptions {
  const defaults: BetterAuthOptions = {
    ...fixedOptions,
    emailAndPassword: {
      enabled: emailAndPassword?.enabled ?? true,
      minPasswordLength: 8,
      maxPasswordLength: 128,
      // A password then opens no session before the address is proved. The mails are ours: `src/auth/mail/mail-links.ts`.
      requireEmailVerification: emailVerification?.required ?? false,
    },
    session: { fields: columns.session, expiresIn: 7 * days, updateAge: 1 * days },
    user: { fields: columns.user, additionalFields: libraryFields(fields) },
    account: { fields: columns.account },
    verification: { fields: columns.verification },
    advanced: fixedAdvanced({}, fixedOptions),
    // For the endpoints of plugins, the only ones that are the library's own. It counts per process.
    rateLimit: { enabled: true },
    plugins: [],
  };
  const wanted = betterAuth?.(defaults) ?? defaults;
  const { secondaryStorage: _, ...rest } = wanted; // sessions are looked up in SQL
  const options: BetterAuthOptions = {
    ...rest,
    ...fixedOptions,
    user: {
      ...wanted.user,
      modelName: "user",
      fields: columns.user,
      additionalFields: { ...inSnakeCase(wanted.user?.additionalFields), ...libraryFields(fields) },
    },
    session: {
      ...wanted.session,
      modelName: "session",
      fields: columns.session,
      additionalFields: inSnakeCase(wanted.session?.additionalFields),
      // With it, a session that is over would go on in the browser that remembers it.
      cookieCache: { enabled: false },
    },
    account: {
      ...wanted.account,
      modelName: "account",
      fields: columns.account,
      additionalFields: inSnakeCase(wanted.account?.additionalFields),
    },
    verification: {
      ...wanted.verification,
      modelName: "verification",
      fields: columns.verification,
      additionalFields: inSnakeCase(wanted.verification?.additionalFields),
    },
    rateLimit: { ...wanted.rateLimit, modelName: "rate_limit", fields: { lastRequest: "last_request" } },
    advanced: fixedAdvanced(wanted.advanced ?? {}, fixedOptions),
    // Its own spans record the messages of errors, which may quote what nobody should see. Ours are src/telemetry/.
    experimental: { ...wanted.experimental, instrumentation: { enabled: false } },
    // An error that the library has no answer for is ours to log and to answer.
    onAPIError: { throw: true },
    plugins: [...pluginsInSnakeCase(wanted.plugins ?? []), secondFactorRules],
  };
  checkPluginTables(options);
  return options;
}

/** Its cookies, checks and addresses, as our own routes rely on them. */
function fixedAdvanced(
  wanted: NonNullable<BetterAuthOptions["advanced"]>,
  { baseURL }: FixedOptions,
): NonNullable<BetterAuthOptions["advanced"]> {
  const { cookies: _, defaultCookieAttributes: __, crossSubDomainCookies: ___, ...rest } = wanted;
  return {
    ...rest,
    cookiePrefix: "authlib",
    useSecureCookies: String(baseURL).startsWith("https:"),
    ipAddress: { ...wanted.ipAddress, ipAddressHeaders: [addressHeader] },
    // Said, because the library leaves its check of origins out where NODE_ENV is "test".
    disableOriginCheck: false,
    disableCSRFCheck: false,
    trustedProxyHeaders: false,
    database: {
      ...wanted.database,
      generateId: makerOfIds(wanted.database?.generateId),
      // The check looks at tables through the search path, which a shared login does not have.
      validateSchema: false,
      // User and accounts in one statement. A second one would be sent only for an address that exists: a clock's work.
      joins: true,
    },
  };
}

/** The tables have ids of text without a default. The library would leave UUIDs and numbers for the database to make. */
function makerOfIds(wanted: GenerateId): GenerateId {
  if (wanted === undefined || typeof wanted === "function") return wanted;
  if (wanted === "uuid") return () => crypto.randomUUID();
  throw new DefinitionError(`defineAuth: betterAuth sets generateId to ${JSON.stringify(wanted)}.`, {
    hint: 'Ids are made before rows are written: leave it out, or give "uuid" or a function.',
  });
}

/** Its names for the columns of `migrations/0002_create_auth.sql`. */
const columns = {
  session: {
    expiresAt: "expires_at",
    createdAt: "created_at",
    updatedAt: "updated_at",
    ipAddress: "ip_address",
    userAgent: "user_agent",
    userId: "user_id",
  },
  user: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
  account: {
    userId: "user_id",
    providerId: "provider_id",
    accountId: "account_id",
    accessToken: "access_token",
    refreshToken: "refresh_token",
    idToken: "id_token",
    accessTokenExpiresAt: "access_token_expires_at",
    refreshTokenExpiresAt: "refresh_token_expires_at",
    createdAt: "created_at",
    updatedAt: "updated_at",
  },
  verification: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
};
