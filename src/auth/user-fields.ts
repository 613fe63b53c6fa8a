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

/** The user of a session. */
export const userOf = (declared: AdditionalFields, id: string, { email, name, fields }: UserRow): SessionUser =>
  sessionUser(declared, { id, email, name }, fields, columnOf);

/**
 * The user of a session, with the declared fields of JSON: a row keyed by column, or claims keyed by name. A timestamp is a Date;
 * fields that the source lacks are omitted.
 *
 * One object serves many calls. A handler that changed its id would read on as another user, and one that changed a date would
 * change it for later calls. So it is frozen, and a timestamp is a Date of its own for each reader.
 */
export function sessionUser(
  declared: AdditionalFields,
  own: Pick<SessionUser, "id" | "email" | "name">,
  source: Readonly<Record<string, unknown>>,
  keyOf: (name: string) => string = (name) => name,
): SessionUser {
  const user: Record<string, unknown> = {};
  for (const name in declared) {
    const value = source[keyOf(name)];
    if (value === undefined) continue;
    const isTime = declared[name]?.type === "timestamp" && typeof value === "string";
    if (isTime) Object.defineProperty(user, name, { enumerable: true, get: () => new Date(value) });
    else user[name] = value;
  }
  return Object.freeze(Object.assign(user, own));
}
