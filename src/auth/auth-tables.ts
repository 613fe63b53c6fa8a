/**
 * The tables of schema auth as better-auth knows them: its own, the declared additional fields, and what plugins bring
 * along, with whose migrations make which. Read from the library's options, so without a database.
 * Next hops: `auth-schema.ts` writes Drizzle tables of it, `src/migrate/generate/schema-auth.ts` what the application's migrations have to make.
 */
import { type DBFieldAttribute, getAuthTables, getSchema } from "better-auth/db";
import type { AuthDefinition } from "../contract/auth.ts";
import { libraryOptions } from "./library-options.ts";
import { isCore } from "./plugins/plugin-names.ts";

export type AuthType = "text" | "boolean" | "integer" | "bigint" | "timestamp" | "jsonb";

export interface AuthColumn {
  /** The library's name for it, and its property in Drizzle. */
  property: string;
  name: string;
  type: AuthType;
  /** Of a text that is one of a few. */
  values: readonly string[] | null;
  notNull: boolean;
  /** What the database puts in; `"now"` of a timestamp is the moment. */
  default: string | number | boolean | Date | undefined;
  references: { table: string; column: string; onDelete: OnDelete } | null;
  /** Who makes the column: the platform's migrations, or the application's, for a field it declares or for a plugin. */
  origin: "platform" | "field" | "plugin";
}

export type OnDelete = "cascade" | "restrict" | "no action" | "set null" | "set default";

export interface AuthTable {
  /** The library's name for it. */
  key: string;
  name: string;
  /** One of the library's own, made by the platform's migrations. */
  isCore: boolean;
  /** Without `id`, which all have. */
  columns: AuthColumn[];
  /** Of columns that the application's migrations make. */
  indexes: { name: string; columns: readonly string[]; unique: boolean }[];
  /** The plugin makes it by itself. */
  isForeign: boolean;
}

/** Options of a build: the hook sees them, nothing of them is used. */
const nowhere = { secrets: [], baseURL: "http://localhost:4000", basePath: "/api/auth" };

/** @throws DefinitionError when a plugin wants what is the platform's, and whatever the `betterAuth` hook throws */
export function authTables(definition: AuthDefinition): AuthTable[] {
  const declared = definition.user?.additionalFields ?? {};
  const options = libraryOptions(definition, declared, nowhere);
  const schema = getSchema(options);
  const platform = getAuthTables(libraryOptions({}, {}, nowhere));
  return Object.entries(getAuthTables(options)).map(([key, { modelName, fields, disableMigrations }]) => {
    const columns = Object.entries(fields).map(([property, field]): AuthColumn => {
      const isDeclared = key === "user" && Object.hasOwn(declared, property);
      const origin = isDeclared ? "field" : platform[key]?.fields[property] ? "platform" : "plugin";
      // Rows that are there have nothing for it.
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
    const single = added.flatMap(({ property, name }) => {
      const { index, unique = false } = fields[property] ?? {};
      return index || unique
        ? [{ name: `${modelName}_${name}_${unique ? "uidx" : "idx"}`, columns: [name], unique }]
        : [];
    });
    const composed = (schema[modelName]?.indexes ?? []).map((index) => ({ unique: false, ...index }));
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

/** As the library's own generator takes them for PostgreSQL. */
function typeOf({ type, bigint }: DBFieldAttribute): Pick<AuthColumn, "type" | "values"> {
  if (Array.isArray(type)) return { type: "text", values: type };
  const types = { string: "text", boolean: "boolean", number: "integer", date: "timestamp" } as const;
  const known = types[type as keyof typeof types] ?? "jsonb";
  return { type: known === "integer" && bigint ? "bigint" : known, values: null };
}

/** A function is the library's to call; of a date it means now, as in the library's own tables. */
function defaultOf({ type, defaultValue, onUpdate }: DBFieldAttribute): AuthColumn["default"] {
  if (type === "date") return typeof defaultValue === "function" || onUpdate ? "now" : undefined;
  const isPlain = ["string", "number", "boolean"].includes(typeof defaultValue);
  return isPlain ? (defaultValue as string | number | boolean) : undefined;
}
