/**
 * better-auth, configured. Our routes call its server API and its own SQL runs as svc_auth; its HTTP router is not
 * mounted, so what we do not call cannot be reached.
 * Next hop: `credentials.ts` and `session-store.ts`, the only callers.
 */
import { createHmac } from "node:crypto";
import { runWithTransaction } from "@better-auth/core/context";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { PostgresDialect } from "kysely";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../define/auth.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import { type AdditionalFields, libraryFields } from "./user-fields.ts";

export interface LibraryOptions {
  pool: pg.Pool;
  /** Newest first. */
  secrets: readonly string[];
  origins: Pick<OriginPolicy, "own" | "all">;
  definition: AuthDefinition;
  /** Those declared fields that have a column. */
  fields: AdditionalFields;
  log: Logger;
}

const days = 24 * 60 * 60;

/** Header in which the client's address is handed to the library. Made by us, so no client can set it. */
export const addressHeader = "x-svc-client-address";

type Instance = ReturnType<typeof betterAuth<BetterAuthOptions>>;

export interface Library {
  api: Instance["api"];
  context: Awaited<Instance["$context"]>;
  /** What the internal adapter writes meanwhile is written together or not at all; its after-hooks run when it is. */
  transaction<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Builds the library's instance. Opens nothing of its own: connections come from the given pool. */
export async function createLibrary(options: LibraryOptions): Promise<Library> {
  const { definition } = options;
  const fixed = fixedOptions(options);
  const defaults: BetterAuthOptions = {
    ...fixed,
    emailAndPassword: {
      enabled: definition.emailAndPassword?.enabled ?? true,
      minPasswordLength: 8,
      maxPasswordLength: 128,
      // A password then opens no session before the address is proved. The mails are ours: `mail-links.ts`.
      requireEmailVerification: definition.emailVerification?.required ?? false,
    },
    session: {
      fields: {
        expiresAt: "expires_at",
        createdAt: "created_at",
        updatedAt: "updated_at",
        ipAddress: "ip_address",
        userAgent: "user_agent",
        userId: "user_id",
      },
      expiresIn: 7 * days,
      updateAge: 1 * days,
    },
    user: {
      fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
      additionalFields: libraryFields(options.fields),
    },
    account: {
      fields: {
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
    },
    verification: { fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" } },
    advanced: {
      cookiePrefix: "authlib",
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: {
        // The check looks at tables through the search path, which a shared login does not have.
        validateSchema: false,
        // User and accounts in one statement. A second one would be sent only for an address that exists: a clock's work.
        joins: true,
      },
    },
    rateLimit: { enabled: false }, // the library's own counts in memory, and only in the router that is not mounted
  };
  const library = betterAuth<BetterAuthOptions>({ ...(definition.betterAuth?.(defaults) ?? defaults), ...fixed });
  const context = await library.$context;
  return { api: library.api, context, transaction: async (work) => await runWithTransaction(context.adapter, work) };
}

/** What the `betterAuth` hook cannot change. */
function fixedOptions({ pool, secrets, origins, log }: LibraryOptions) {
  return {
    // The schema is in every statement: a session's search_path neither exists on a shared login nor survives PgBouncer.
    // With `transaction`, a user without an account cannot come about.
    database: { dialect: new PostgresDialect({ pool }), type: "postgres", schemaName: "auth", transaction: true },
    secrets: secrets.map((value) => ({ version: versionOf(value), value })),
    baseURL: origins.own,
    trustedOrigins: [...origins.all],
    basePath: "/api/auth",
    telemetry: { enabled: false },
    logger: { level: "info", log: forward(log) },
  } satisfies BetterAuthOptions;
}

/**
 * The number under which the library remembers with which secret it encrypted something. It has to stay when others
 * join or leave the list, so it comes from the secret itself, one way and only 31 bits of it.
 */
function versionOf(secret: string): number {
  return createHmac("sha256", secret).update("svc secret version").digest().readUInt32BE(0) >>> 1;
}

/** What every failed sign-in makes the library say. Our own line about the request says the same. */
const expected = new Set(["User not found", "Password not found", "Invalid password"]);

/** Its log, in ours. Arguments other than errors are dropped: nobody promises that they hold no secret. */
function forward(log: Logger) {
  return (level: "debug" | "info" | "warn" | "error", message: string, ...details: unknown[]) => {
    const err = details.find((detail) => detail instanceof Error);
    // Two sign-ups with one e-mail at once: the loser's insert is refused, and the loser told.
    const lostRace = (err as { code?: unknown } | undefined)?.code === "23505";
    // Its "info" tells who tried to sign up, by address.
    if (level === "info" || level === "debug") return;
    const quiet = lostRace || expected.has(message);
    log[quiet ? "debug" : level]({ from: "better-auth", ...(err && !lostRace && { err }) }, message);
  };
}
