/**
 * The tables of schema auth as better-auth defines them: its own, the declared additional fields, and the plugins'
 * tables. Each column says which migrations create it. Read from the library's options, without a database.
 * Next hops: `auth-schema.ts` writes Drizzle tables from it; `src/migrate/generate/schema-auth.ts` derives the
 * application's migrations.
 */
import { type DBFieldAttribute, getAuthTables, getSchema } from "better-auth/db";
import type { AuthDefinition } from "../contract/auth.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { libraryOptions } from "./library-options.ts";
import { isCore } from "./plugins/plugin-names.ts";

type AuthType = "text" | "boolean" | "integer" | "bigint" | "timestamp" | "jsonb";

export interface AuthColumn {
  /** The library's name of the column, and its property in Drizzle. */
  property: string;
  name: string;
  type: AuthType;
  /** The allowed values of an enum column. */
  values: readonly string[] | null;
  notNull: boolean;
  /** The database default; `"now"` on a timestamp is the current time. */
  default: string | number | boolean | Date | undefined;
  references: { table: string; column: string; onDelete: OnDelete } | null;
  /** Who creates the column: the platform's migrations, or the application's, for a declared field or a plugin. */
  origin: "platform" | "field" | "plugin";
}

type OnDelete = "cascade" | "restrict" | "no action" | "set null" | "set default";

export interface AuthTable {
  /** The library's name of the table. */
  key: string;
  name: string;
  /** Whether it is one of the library's own tables, which the platform's migrations create. */
  isCore: boolean;
  /** Without `id`, which all tables have. */
  columns: AuthColumn[];
  /** Indexes on columns that the application's migrations create. */
  indexes: { name: string; columns: readonly string[]; unique: boolean }[];
  /** Whether the plugin creates the table itself. */
  isForeign: boolean;
}

/** Placeholder options for a build: the hook receives them, and nothing else uses them. */
const nowhere = { secrets: [], baseURL: "http://localhost:4000", basePath: "/api/auth" };

/**
 * @throws DefinitionError when a plugin declares a table of the platform, or a field is declared that a plugin has as a unique
 *   column; and any error of the `betterAuth` hook
 */
export function authTables(definition: AuthDefinition): AuthTable[] {
  const declared = definition.user?.additionalFields ?? {};
  const options = libraryOptions(definition, declared, nowhere);
  const schema = getSchema(options);
  const platform = getAuthTables(libraryOptions({}, {}, nowhere));
  refuseDeclaredKeys(declared, getAuthTables(libraryOptions(definition, {}, nowhere)).user?.fields ?? {});
  return Object.entries(getAuthTables(options)).map(([key, { modelName, fields, disableMigrations }]) => {
    const columns = Object.entries(fields).map(([property, field]): AuthColumn => {
      const isDeclared = key === "user" && Object.hasOwn(declared, property);
      const origin = isDeclared ? "field" : platform[key]?.fields[property] ? "platform" : "plugin";
      // Existing rows have no value for it.
      const mayLack = isCore(key) && origin !== "platform";
      const { type, values } = typeOf(field);
      const { references } = field;
      return {
        property,
        name: field.fieldName ?? property,
        type,
        values,
        notNull: field.required !== false && !mayLack,
        default: isDeclared ? declared[property]?.default : defaultOf(field),
        references: references
          ? { table: references.model, column: references.field, onDelete: references.onDelete ?? "cascade" }
          : null,
        origin,
      };
    });
    const added = columns.filter(({ origin }) => origin === "plugin");
    const composed = (schema[modelName]?.indexes ?? []).map((index) => ({ unique: false, ...index }));
    const single = added.flatMap(({ property, name, references }) => {
      const { index, unique = false } = fields[property] ?? {};
      // Without one, deleting a user would read the whole table.
      const needed = references && !composed.some(({ columns }) => columns[0] === name);
      return index || unique || needed
        ? [{ name: `${modelName}_${name}_${unique ? "uidx" : "idx"}`, columns: [name], unique }]
        : [];
    });
    return {
      key,
      name: modelName,
      isCore: isCore(key),
      columns,
      indexes: [...single, ...composed.map((index) => ({ ...index, unique: index.unique === true }))],
      isForeign: disableMigrations === true,
    };
  });
}

/**
 * A declaration replaces what a plugin says of a column of the same name. A user name, for example, would lose its unique
 * index, and sign-up would refuse it.
 *
 * @param undeclared the user's fields without declarations
 * @throws DefinitionError
 */
function refuseDeclaredKeys(declared: object, undeclared: Record<string, DBFieldAttribute>): void {
  const key = Object.keys(declared).find((property) => undeclared[property]?.unique);
  if (key === undefined) return;
  throw new DefinitionError(
    `user.additionalFields.${key} of defineAuth() is a unique column of a plugin of better-auth.`,
    { hint: "Remove the declaration: the plugin creates the column and sets it." },
  );
}

/** The same type mapping as the library's own generator for PostgreSQL. */
function typeOf({ type, bigint }: DBFieldAttribute): Pick<AuthColumn, "type" | "values"> {
  if (Array.isArray(type)) return { type: "text", values: type };
  const types = { string: "text", boolean: "boolean", number: "integer", date: "timestamp" } as const;
  const known = types[type as keyof typeof types] ?? "jsonb";
  return { type: known === "integer" && bigint ? "bigint" : known, values: null };
}

/** Only the library calls default functions. On a date, a function means "now", as in the library's own tables. */
function defaultOf({ type, defaultValue, onUpdate }: DBFieldAttribute): AuthColumn["default"] {
  if (type === "date") return typeof defaultValue === "function" || onUpdate ? "now" : undefined;
  const isPlain = ["string", "number", "boolean"].includes(typeof defaultValue);
  return isPlain ? (defaultValue as string | number | boolean) : undefined;
}
