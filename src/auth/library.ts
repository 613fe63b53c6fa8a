/**
 * Runs better-auth. Our routes call its server API, and its SQL runs as svc_auth. Of its HTTP router only plugin
 * endpoints are mounted, so other endpoints cannot be reached.
 * Next hop: `library-options.ts` configures it, `src/auth/passwords/credentials.ts` and
 * `src/auth/sessions/session-store.ts` call it.
 */
import { runWithTransaction } from "@better-auth/core/context";
import { type BetterAuthOptions, betterAuth } from "better-auth";
import { PostgresDialect } from "kysely";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../contract/auth.ts";
import type { OriginPolicy } from "../http/origin-policy.ts";
import { versionOf } from "../kit/secret-version.ts";
import { isConnectionLoss } from "../postgres/errors.ts";
import { type FixedOptions, libraryOptions } from "./library-options.ts";
import { libraryPool } from "./library-pool.ts";
import type { Library } from "./library-types.ts";
import type { Attempts } from "./passwords/attempts.ts";
import type { PluginMessages } from "./plugins/plugin-messages.ts";
import { besideAnswers } from "./plugins/plugin-senders.ts";
import type { AdditionalFields } from "./user-fields.ts";

export interface LibraryOptions {
  pool: pg.Pool;
  /** Newest first. */
  secrets: readonly string[];
  origins: Pick<OriginPolicy, "own" | "all">;
  definition: AuthDefinition;
  /** The declared fields that have a column. */
  fields: AdditionalFields;
  attempts: Pick<Attempts, "newUser">;
  messages: PluginMessages;
  log: Logger;
}

/** Builds the library's instance. It opens no connections of its own; it uses the given pool. */
export async function createLibrary(options: LibraryOptions): Promise<Library> {
  const { messages } = options;
  const {
    advanced,
    plugins: given,
    ...others
  } = libraryOptions(options.definition, options.fields, fixedOptions(options));
  const plugins = await besideAnswers(given ?? [], messages);
  const backgroundTasks = { handler: messages.add };
  const library = betterAuth<BetterAuthOptions>({ ...others, plugins, advanced: { backgroundTasks, ...advanced } });
  const context = await library.$context;
  return {
    api: library.api,
    context,
    handle: library.handler,
    transaction: async (work) => await runWithTransaction(context.adapter, work),
  };
}

/** Options that the `betterAuth` hook cannot change, and that a build without a database does not need. */
function fixedOptions({ pool, secrets, origins, attempts, messages, log }: LibraryOptions): FixedOptions {
  return {
    // Every statement names the schema: a search_path is not set on a shared login and does not survive PgBouncer. With
    // `transaction`, a user and its account are created together or not at all.
    database: {
      dialect: new PostgresDialect({ pool: libraryPool(pool, (client) => attempts.newUser(client)) }),
      type: "postgres",
      schemaName: "auth",
      transaction: true,
    },
    secrets: secrets.map((value) => ({ version: versionOf(value), value })),
    baseURL: origins.own,
    trustedOrigins: [...origins.all],
    basePath: "/api/auth",
    telemetry: { enabled: false },
    logger: { level: "info", log: forward(log, messages) },
  };
}

/** Messages of the library about failed sign-ins. Our own request log has the same information. */
const expected = new Set(["User not found", "Password not found", "Invalid password"]);

/** What any caller can cause. It must not wake the operator. */
const byCallers = /^(?:Failed to parse (?:relay )?state$|Invalid \w+URL: |Change email with OTP is disabled)/;

/** The function of an application that sends the message of a plugin has failed. */
const unsent = /^Failed to (?:run background task:|send two-factor OTP)$/;

/** Forwards the library's log to ours. Only errors are kept of the arguments: others may contain secrets. */
function forward(log: Logger, messages: PluginMessages) {
  return (level: "debug" | "info" | "warn" | "error", message: string, ...details: unknown[]) => {
    const err = details.find((detail) => detail instanceof Error);
    // Two sign-ups with one e-mail at once: the second insert fails, and its caller gets an error.
    const lostRace = (err as { code?: unknown } | undefined)?.code === "23505";
    // `@better-auth/api-key` logs each key that it refuses.
    const refusal = Number((err as { statusCode?: unknown } | undefined)?.statusCode) < 500;
    // Its "info" lines contain the e-mail addresses of sign-ups.
    if (level === "info" || level === "debug") return;
    if (unsent.test(message)) return messages.failed(details[0]);
    // What an authenticator answered. An error of the database has a code, unless the connection is lost.
    const isOfDatabase = err !== undefined && ("code" in err || isConnectionLoss(err));
    const isAnswer = /^Failed to verify (?:registration|authentication)$/.test(message) && !isOfDatabase;
    const quiet = lostRace || refusal || expected.has(message);
    log[quiet ? "debug" : isAnswer || byCallers.test(message) ? "info" : level](
      { from: "better-auth", ...(err && !lostRace && { err }) },
      message,
    );
  };
}
