/**
 * Names the tables and columns of better-auth's plugins in snake_case: `twoFactor.backupCodes` is stored in
 * `auth.two_factor.backup_codes`. The library reads these names from its plugins' schemas, so they are set there.
 * Next hop: `src/auth/library-options.ts`.
 */
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import { type DBFieldAttribute, getAuthTables } from "better-auth/db";
import { DefinitionError } from "../../kit/definition-error.ts";
import { columnOf } from "../user-fields.ts";

type Fields = Record<string, DBFieldAttribute>;

/** The library's own tables, which the platform's migrations make. Plugins may add columns to them. */
export const coreTables = ["user", "session", "account", "verification"] as const;

/** Further tables of schema auth; plugins cannot have them. */
const platformTables = new Set(["jwks", "attempt"]);

/** Fields with their columns. Names that the application has set are kept. */
export function inSnakeCase(fields: Fields = {}): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, { ...field, fieldName: nameOf(field.fieldName, name) }]),
  );
}

const nameOf = (chosen: string | undefined, key: string) => (chosen && chosen !== key ? chosen : columnOf(key));

/** Copies the plugins, because a plugin's schema may be shared by all its instances. */
export function pluginsInSnakeCase(plugins: readonly BetterAuthPlugin[]): BetterAuthPlugin[] {
  return plugins.map((plugin) => {
    if (!plugin.schema) return plugin;
    const schema = schemaInSnakeCase(plugin.schema);
    // The plugin sets a number whose owner has given the code. By `/sign-in/email-otp` a stranger could claim it first.
    const number = plugin.id === "phone-number" && schema.user?.fields.phoneNumber;
    if (number) number.input = false;
    return { ...plugin, schema };
  });
}

function schemaInSnakeCase(schema: NonNullable<BetterAuthPlugin["schema"]>): NonNullable<BetterAuthPlugin["schema"]> {
  return Object.fromEntries(
    Object.entries(schema).map(([name, table]) => {
      return [name, { ...table, modelName: nameOf(table.modelName, name), fields: inSnakeCase(table.fields) }];
    }),
  );
}

export const isCore = (name: string): boolean => (coreTables as readonly string[]).includes(name);

/** @throws DefinitionError when a plugin wants a table that is the platform's, or two fields the same column */
export function checkPluginTables(options: BetterAuthOptions): void {
  for (const [key, { modelName, fields }] of Object.entries(getAuthTables(options))) {
    if (platformTables.has(modelName) || (isCore(modelName) && !isCore(key))) {
      throw new DefinitionError(
        `A better-auth plugin declares a table auth.${modelName}, which belongs to the platform.`,
        {
          hint: "svc signs JWTs and publishes their keys itself; leave the plugin out, or set another modelName for its table.",
        },
      );
    }
    const names = Object.entries(fields).map(([field, { fieldName }]) => fieldName ?? field);
    const twice = names.find((name, index) => names.indexOf(name) !== index || name === "id");
    if (twice) {
      throw new DefinitionError(`Two fields of better-auth's plugins use the column auth.${modelName}.${twice}.`, {
        hint: "Give one of them another fieldName, or leave one of the plugins out.",
      });
    }
  }
}
