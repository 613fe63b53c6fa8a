/** `defineSeed`: rows for a database that has none, for development and for trying things out. `svc db seed` runs it. */
import type { Context } from "./context.ts";
import type { Schema } from "./database.ts";

/** A user whom a seed wants to exist. */
export interface SeedUser {
  email: string;
  /** (Default: what stands before the @) */
  name?: string;
  /** With it the user can sign in. (Default: none) */
  password?: string;
  /** Additional fields, by their declared names. */
  fields?: Readonly<Record<string, unknown>>;
}

export interface SeedCall<S extends Schema> {
  /** As the system, which row-level security does not bind: owners are named in the rows. */
  context: Context<S>;
  /** The user's id; made at once, and not undone when the seed fails later. Found again by the address. */
  user(who: SeedUser): Promise<string>;
}

export interface Seed {
  "~svc": { seed: (call: SeedCall<Schema>) => Promise<unknown> };
}

/**
 * Defines what `svc db seed` writes, in one transaction: all of it or nothing. It runs as often as somebody asks for it, so
 * it should find what it made before, such as by `onConflictDoNothing()`.
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
