/**
 * better-auth, running. Our routes call its server API and its own SQL runs as svc_auth; of its HTTP router only the
 * endpoints of plugins are mounted, so what we do not call cannot be reached.
 * Next hop: `library-options.ts` configures it, `src/auth/passwords/credentials.ts` and `src/auth/sessions/session-store.ts` call it.
 */
import { runWithTransaction } from "@better-auth/core/context";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { PostgresDialect } from "kysely";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../contract/auth.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import { versionOf } from "../kit/secret-version.ts";
import { type FixedOptions, libraryOptions } from "./library-options.ts";
import type { Library } from "./library-types.ts";
import type { AdditionalFields } from "./user-fields.ts";

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

/** Builds the library's instance. Opens nothing of its own: connections come from the given pool. */
export async function createLibrary(options: LibraryOptions): Promise<Library> {
  const library = betterAuth<BetterAuthOptions>(
    libraryOptions(options.definition, options.fields, fixedOptions(options)),
  );
  const context = await library.$context;
  return {
    api: library.api,
    context,
    handle: library.handler,
    transaction: async (work) => await runWithTransaction(context.adapter, work),
  };
}

/** What the `betterAuth` hook cannot change, and a build without a database does not need. */
function fixedOptions({ pool, secrets, origins, log }: LibraryOptions): FixedOptions {
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
  };
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
