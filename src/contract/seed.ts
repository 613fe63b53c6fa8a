/** `defineSeed`: rows for an empty database, for development and trials. `svc db seed` runs it. */
import type { Context } from "./context.ts";
import type { Schema } from "./database.ts";

/** A user that a seed needs. */
export interface SeedUser {
  email: string;
  /** (Default: the part of the address before the @) */
  name?: string | undefined;
  /** Lets the user sign in. (Default: none) */
  password?: string | undefined;
  /** Additional fields, by their declared names. */
  fields?: Readonly<Record<string, unknown>> | undefined;
}

export interface SeedCall<S extends Schema> {
  /** Runs as the system, without row-level security: the rows must name their owners. */
  context: Context<S>;
  /** The user's id. The user is created at once and stays when the seed fails later. An existing user is found by address. */
  user(who: SeedUser): Promise<string>;
}

export interface Seed {
  "~svc": { seed: (call: SeedCall<Schema>) => Promise<unknown> };
}

/**
 * Defines the rows that `svc db seed` writes, in one transaction. It may run repeatedly, so it must tolerate existing
 * rows, for example by `onConflictDoNothing()`.
 *
 * @example
 * export default defineSeed<typeof schema>(async ({ context, user }) => {
 *   const userId = await user({ email: "ann@example.com", password: "correct horse" });
 *   await context.db.insert(schema.tasks).values({ id: 1, userId, title: "Write docs" }).onConflictDoNothing();
 * });
 */
export function defineSeed<S extends Schema = Schema>(seed: (call: SeedCall<S>) => Promise<unknown>): Seed {
  return { "~svc": { seed: (call) => seed(call as unknown as SeedCall<S>) } };
}
