/**
 * Builds better-auth's options: our defaults, then the application's `betterAuth` hook, then the options that a hook
 * cannot change. Needs no database, so `svc codegen` sees the same tables as the running service.
 * Next hop: `library.ts` runs them, `src/auth/auth-tables.ts` reads their tables.
 */
import type { BetterAuthOptions } from "better-auth";
import { type AuthDefinition, knownProviders } from "../contract/auth.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { banRules } from "./ban-rules.ts";
import { addressHeader } from "./library-types.ts";
import { inputRules } from "./plugins/input-rules.ts";
import { passkeyRules } from "./plugins/passkey-rules.ts";
import { withPasskeys } from "./plugins/passkeys.ts";
import { checkPluginTables, inSnakeCase, pluginsInSnakeCase } from "./plugins/plugin-names.ts";
import { refusePlugins } from "./plugins/refused-plugins.ts";
import { secondFactorRules } from "./second-factor-rules.ts";
import { defaultLifetimes } from "./sessions/session-store.ts";
import { type AdditionalFields, columnOf, libraryFields } from "./user-fields.ts";
import { visitRules } from "./visit-rules.ts";

/** Database, secrets and addresses of the library. A hook cannot change them. */
export type FixedOptions = Pick<
  BetterAuthOptions,
  "database" | "secrets" | "baseURL" | "trustedOrigins" | "basePath" | "telemetry" | "logger"
>;

type GenerateId = NonNullable<NonNullable<BetterAuthOptions["advanced"]>["database"]>["generateId"];

const days = 24 * 60 * 60;

/**
 * @param fields the declared fields that the library may use: at run time those that have a column
 * @throws DefinitionError for a plugin that svc refuses, or that declares a table of the platform, and for passkeys that could
 *   not be used
 */
export function libraryOptions(
  { betterAuth, emailAndPassword, emailVerification, passkeys, social }: AuthDefinition,
  fields: AdditionalFields,
  fixedOptions: FixedOptions,
): BetterAuthOptions {
  const defaults: BetterAuthOptions = {
    ...fixedOptions,
    emailAndPassword: {
      enabled: emailAndPassword?.enabled ?? true,
      minPasswordLength: 8,
      maxPasswordLength: 128,
      // If required, a password opens no session before the address is verified. We send the mails:
      // `src/auth/mail/mail-links.ts`.
      requireEmailVerification: emailVerification?.required ?? false,
    },
    session: { fields: columns.session, ...defaultLifetimes },
    user: { fields: columns.user, additionalFields: libraryFields(fields) },
    account: { fields: columns.account },
    verification: { fields: columns.verification },
    advanced: fixedAdvanced({}, fixedOptions),
    // Limits the endpoints of plugins, the only endpoints of the library that are mounted. Counted per process.
    rateLimit: { enabled: true },
    plugins: [],
  };
  // What the hook leaves out keeps its default: otherwise one that returns its plugins alone would end sign-in by
  // password, and one that sets a length of passwords would end the rule that an address is verified first.
  const wanted = { ...defaults, ...hooked(betterAuth, defaults) };
  refusePlugins(wanted.plugins ?? []);
  const plugins = withPasskeys(wanted.plugins ?? [], passkeys, fixedOptions);
  const { secondaryStorage: _, ...rest } = wanted; // sessions are read by SQL
  const table = <Name extends keyof typeof columns>(name: Name) => ({
    ...wanted[name],
    modelName: name,
    fields: columns[name],
    additionalFields: inSnakeCase(wanted[name]?.additionalFields),
  });
  const options: BetterAuthOptions = {
    ...rest,
    ...fixedOptions,
    socialProviders: reservedProviders(social, wanted.socialProviders),
    emailAndPassword: {
      enabled: false,
      ...defaults.emailAndPassword,
      ...wanted.emailAndPassword,
      // For plugins that give a user a first password. Others go through `src/auth/passwords/passwords.ts`.
      revokeSessionsOnPasswordReset: true,
    },
    user: {
      ...table("user"),
      additionalFields: { ...inSnakeCase(wanted.user?.additionalFields), ...libraryFields(fields) },
    },
    session: {
      ...table("session"),
      // With the cache, an ended session would stay valid in the browser that holds the cookie.
      cookieCache: { enabled: false },
    },
    account: table("account"),
    verification: {
      ...table("verification"),
      // The token of a link is part of the identifier: a copy of the database must not sign anybody in. Others stay
      // plain, because we search for their beginnings (`forget` in passwords.ts).
      storeIdentifier: { default: "plain", overrides: { "magic-link:": "hashed", "one-time-token:": "hashed" } },
    },
    rateLimit: {
      ...defaults.rateLimit,
      ...wanted.rateLimit,
      modelName: "rate_limit",
      fields: { lastRequest: "last_request" },
    },
    advanced: fixedAdvanced(wanted.advanced ?? {}, fixedOptions),
    // Its spans record error messages, which may contain secrets. Our own spans are in src/telemetry/.
    experimental: { ...wanted.experimental, instrumentation: { enabled: false } },
    // We log and answer the library's unhandled errors ourselves. Its own page for errors is not mounted.
    onAPIError: { throw: true, errorURL: wanted.onAPIError?.errorURL ?? "/" },
    plugins: [
      ...pluginsInSnakeCase(plugins),
      ...[secondFactorRules, banRules, visitRules, ...(passkeys ? [passkeyRules] : []), inputRules],
    ],
  };
  checkPluginTables(options);
  checkLifetime(options.session?.expiresIn);
  return options;
}

/**
 * Without a flow, because `social/` has ours. The ids are reserved: otherwise a user could register a provider of that
 * name by the `sso` plugin, which would then speak for the users of the real one.
 */
function reservedProviders(
  social: AuthDefinition["social"],
  wanted: BetterAuthOptions["socialProviders"] & Record<string, unknown> = {},
): BetterAuthOptions["socialProviders"] {
  const ids = [...knownProviders, ...Object.keys(social?.oidc ?? {})];
  // The plugin `oneTap` reads the client of google here.
  return Object.fromEntries(ids.map((id) => [id, { ...(wanted[id] as object), enabled: false }]));
}

/** @throws DefinitionError for an async hook, whose options would be lost */
function hooked(hook: AuthDefinition["betterAuth"], defaults: BetterAuthOptions): BetterAuthOptions | undefined {
  const wanted: unknown = hook?.(defaults);
  if (!(wanted instanceof Promise)) return wanted as BetterAuthOptions | undefined;
  wanted.catch(() => {});
  throw new DefinitionError("defineAuth: betterAuth returned a promise.", {
    hint: "Return the options at once. What takes time belongs at the top of auth.ts, where await is allowed.",
  });
}

/** @throws DefinitionError for a lifetime in which nobody stays signed in, or that browsers do not keep a cookie for */
function checkLifetime(seconds: number | undefined): void {
  if (seconds === undefined || (Number.isInteger(seconds) && seconds > 0 && seconds <= 400 * days)) return;
  throw new DefinitionError(`defineAuth: betterAuth sets session.expiresIn to ${seconds}.`, {
    hint: "It is a whole number of seconds, from 1 to 34560000 (400 days). Leave it out for 7 days.",
  });
}

/** Cookie, origin and address settings that our own routes rely on. */
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
    // Set explicitly: the library skips its origin check when NODE_ENV is "test".
    disableOriginCheck: false,
    disableCSRFCheck: false,
    trustedProxyHeaders: false,
    database: {
      ...wanted.database,
      generateId: makerOfIds(wanted.database?.generateId),
      // The check finds tables through the search path, which a shared login does not have.
      validateSchema: false,
      // Reads user and accounts in one statement. A second one, sent only for an existing address, would be a timing leak.
      joins: true,
    },
  };
}

/** Generates ids: the tables have text ids without a default, and the library would leave UUIDs and numbers to the database. */
function makerOfIds(wanted: GenerateId): GenerateId {
  if (wanted === undefined || typeof wanted === "function") return wanted;
  if (wanted === "uuid") return () => crypto.randomUUID();
  throw new DefinitionError(`defineAuth: betterAuth sets generateId to ${JSON.stringify(wanted)}.`, {
    hint: 'Ids are created before rows are written: leave it out, or set "uuid" or a function.',
  });
}

/** The library's column names in `migrations/0002_create_auth.sql`, for fields of several words. */
const columnsOf = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, columnOf(field)]));
const dates = ["createdAt", "updatedAt"];
const tokens = ["accessToken", "refreshToken", "idToken", "accessTokenExpiresAt", "refreshTokenExpiresAt"];
const columns = {
  session: columnsOf("expiresAt", "ipAddress", "userAgent", "userId", ...dates),
  user: columnsOf("emailVerified", ...dates),
  account: columnsOf("userId", "providerId", "accountId", ...tokens, ...dates),
  verification: columnsOf("expiresAt", ...dates),
};
