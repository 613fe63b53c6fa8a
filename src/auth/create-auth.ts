/**
 * Authentication, put together: who is calling (`authenticate`) and the endpoints below /api/auth (`router`).
 * Next hop: `authenticate.ts`, `token-routes.ts`.
 */
import type { Router } from "express";
import type pg from "pg";
import type { Logger } from "pino";
import type { AuthDefinition } from "../define/auth.ts";
import { ask } from "./ask.ts";
import { createAuthenticate } from "./authenticate.ts";
import { Credentials } from "./credentials.ts";
import { Jwts } from "./jwt.ts";
import { KeyStore } from "./key-store.ts";
import { createLibrary } from "./library.ts";
import { PasswordGate } from "./password-gate.ts";
import type { Authenticate } from "./session.ts";
import { SessionStore } from "./session-store.ts";
import { SessionTokens } from "./session-token.ts";
import { tokenRoutes } from "./token-routes.ts";
import { type AdditionalFields, columnOf } from "./user-fields.ts";

export interface AuthOptions {
  /** Connections as svc_auth. They stay the caller's to close. */
  pool: pg.Pool;
  /** Newest first: the first one signs and encrypts, all of them verify and decrypt. */
  secrets: readonly string[];
  /** Where clients reach this service, for example https://app.example.com. Its origin issues the tokens. */
  baseUrl: string;
  definition: AuthDefinition;
  log: Logger;
}

export interface Auth {
  authenticate: Authenticate;
  /** To be mounted at /api/auth. */
  router: Router;
  /** Lets go of what is remembered about callers. */
  close(): Promise<void>;
}

/** Passwords hashed at once: libuv has four threads, and one must stay free for everybody else. */
const maxHashes = 3;
/** Sign-ins that may wait for one of them: some seconds' worth. */
const maxWaiting = 100;

/**
 * Builds authentication on a migrated database.
 *
 * @throws SvcError UNAVAILABLE when the database cannot be reached; TypeError without secrets
 */
export async function createAuth({ pool, secrets, baseUrl, definition, log }: AuthOptions): Promise<Auth> {
  const sessionTokens = new SessionTokens(secrets);
  const { origin } = new URL(baseUrl);
  const fields = await fieldsWithColumns(pool, definition.user?.additionalFields ?? {}, log);
  const library = await createLibrary({ pool, secrets, origin, definition, fields, log });
  const { secretConfig } = library.context;
  if (typeof secretConfig === "string") throw new TypeError("The library did not take the list of secrets.");

  const keys = new KeyStore(pool, secretConfig, log);
  await keys.signingKey(); // now rather than in the first sign-in, so that a process that cannot sign does not start

  const jwts = new Jwts({ keys, origin, fields });
  const sessions = new SessionStore(pool, library, fields);
  const authenticate = createAuthenticate({ jwts, sessionTokens, sessions });
  // A sign-up holds a connection while it hashes: at least one is left for the sessions of everybody else.
  const gate = new PasswordGate(Math.max(1, Math.min(maxHashes, pool.options.max - 1)), maxWaiting);
  const credentials = new Credentials(library, gate);
  return {
    authenticate,
    router: tokenRoutes({ jwts, sessionTokens, sessions, credentials, keys, authenticate }),
    async close() {
      jwts.forgetAll();
    },
  };
}

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
