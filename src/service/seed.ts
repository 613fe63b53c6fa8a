/**
 * Runs an application's seed as the system, in one transaction, without a service.
 * Next hop: `src/contract/seed.ts` for authors' types, `src/call/invoke.ts` for the transaction.
 */
import pg from "pg";
import { createAuth } from "../auth/create-auth.ts";
import { inTransaction } from "../call/invoke.ts";
import type { Seed, SeedUser } from "../contract/seed.ts";
import { createOriginPolicy } from "../http/origin-policy.ts";
import { causesOf } from "../kit/causes.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { SvcError } from "../kit/svc-error.ts";
import { createPools } from "../postgres/pools.ts";
import { createRuntime, type ProcessOptions } from "./runtime.ts";

/**
 * @throws DefinitionError with the database's message; other errors of the seed, the database or an application's hook.
 *   Rows are rolled back then, users are not
 */
export async function runSeed(seed: Seed, options: ProcessOptions): Promise<void> {
  const { app, config, urls, secrets, log } = options;
  const pools = createPools(urls, { ...config.pool, ...config.limits, request: 1, system: 2, auth: 1 }, log);
  const { social: _, ...definition } = app.auth; // nobody signs in here, so their variables need not be set
  const auth = await createAuth({
    pool: pools.auth,
    listenUrl: urls.auth,
    secrets,
    origins: createOriginPolicy({ ...config, configured: config.auth.url, listening: "http://localhost" }),
    definition,
    google: null,
    limits: config.limits,
    production: config.production,
    log,
  }).catch(async (error) => {
    await pools.close();
    throw error;
  });
  const runtime = createRuntime(options, pools);
  const user = async ({ email, name = email.split("@")[0] ?? email, ...others }: SeedUser): Promise<string> => {
    const { rows } = await pools.system.query("select auth.find_user_id($1) as id", [email]);
    return rows[0]?.id ?? (await auth.signIn()).users.create({ email, name, ...others });
  };
  try {
    await inTransaction(runtime, { session: null, system: true, requestId: "seed" }, "write", (_, context) =>
      seed["~svc"].seed({ context, user }),
    );
  } catch (error) {
    throw error instanceof SvcError ? inFull(error) : error;
  } finally {
    await auth.close();
    await pools.close();
  }
}

/** Adds the details that clients do not get: the seed's author is the developer. */
function inFull(error: SvcError): unknown {
  const { cause } = error;
  const refused = causesOf(cause).find((one) => one instanceof pg.DatabaseError);
  if (!refused) return cause ?? error;
  const { message, detail } = refused;
  const told = new DefinitionError(`The database refused a row: ${message}.`, detail ? { hint: detail } : {});
  if (cause instanceof Error && cause.stack) told.stack = cause.stack; // where in the seed
  return told;
}
