/**
 * Converts additional user fields: from their declaration to a column, to the library, to a session and to a JWT.
 * Next hop: `library.ts` declares them, `src/auth/sessions/session-store.ts` and `src/auth/sessions/jwt.ts` read them.
 */
import type { BetterAuthOptions } from "better-auth";
import type { AdditionalField } from "../contract/auth.ts";
import type { SessionUser } from "../kit/session.ts";

export type AdditionalFields = Readonly<Record<string, AdditionalField>>;

type LibraryFields = NonNullable<NonNullable<BetterAuthOptions["user"]>["additionalFields"]>;

const libraryTypes = { text: "string", boolean: "boolean", integer: "number", timestamp: "date" } as const;

/** The column of a field: `creditLimit` is stored in `credit_limit`. */
export const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The declarations in better-auth's form. The library rejects fields without `input` at sign-up. */
export function libraryFields(fields: AdditionalFields): LibraryFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      {
        type: libraryTypes[field.type],
        required: false,
        input: false,
        fieldName: columnOf(name),
        ...(field.default !== undefined && {
          defaultValue: field.default === "now" && field.type === "timestamp" ? () => new Date() : field.default,
        }),
      },
    ]),
  );
}

/** The columns of a user, as functions of schema auth return them. */
export interface UserRow {
  email: string;
  name: string;
  fields: Record<string, unknown>;
}

/** The user of a session. Frozen: a handler that changed its id would read on as another user. */
export const userOf = (declared: AdditionalFields, id: string, { email, name, fields }: UserRow): SessionUser =>
  Object.freeze({ ...readFields(declared, fields, columnOf), id, email, name });

/**
 * Reads declared fields from JSON: a row keyed by column, or claims keyed by name.
 *
 * @returns values by name; a timestamp is a Date; fields that the source lacks are omitted
 */
export function readFields(
  fields: AdditionalFields,
  source: Readonly<Record<string, unknown>>,
  keyOf: (name: string) => string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const value = source[keyOf(name)];
    if (value === undefined) continue;
    values[name] = fields[name]?.type === "timestamp" && typeof value === "string" ? new Date(value) : value;
  }
  return values;
}
