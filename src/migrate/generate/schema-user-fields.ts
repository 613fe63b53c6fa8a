/**
 * Additional user fields of defineAuth(), as columns of `auth."user"`. The platform's migrations own the table, the application's
 * own these columns. They are nullable: the library sets defaults at sign-up, and existing users may have no value.
 */
import { columnOf } from "../../auth/user-fields.ts";
import type { AdditionalField, AuthDefinition } from "../../contract/auth.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { literal, quote } from "../../postgres/schema-names.ts";
import { alterColumn } from "./schema-columns.ts";
import type { Column, Snapshot, UserField, UserFields } from "./snapshot.ts";

export const userTable = 'auth."user"';
const userKey = "auth.user";

export function userFields(auth: AuthDefinition): UserFields {
  const fields = Object.entries(auth.user?.additionalFields ?? {});
  return Object.fromEntries(
    fields.map(([name, field]) => [
      columnOf(name),
      { type: field.type === "timestamp" ? "timestamptz" : field.type, default: defaultSql(field) },
    ]),
  );
}

function defaultSql({ type, default: value }: AdditionalField): string | null {
  if (value === undefined) return null;
  if (type === "timestamp" && value === "now") return "now()";
  if (value instanceof Date) return literal(value.toISOString());
  return typeof value === "string" ? literal(value) : String(value);
}

/**
 * A column of `auth."user"` that a plugin has added may be declared as a field later, or the reverse. It stays the same
 * column: added once more, the migration fails, and dropped, its values are lost.
 *
 * @returns the earlier snapshot, in which such a column already belongs to the new side
 */
export function followDeclarations(earlier: Snapshot, after: Snapshot): Snapshot {
  const before = structuredClone(earlier);
  const { userFields: fields } = before.svc;
  const had = before.tables[userKey]?.columns ?? {};
  const wants = after.tables[userKey]?.columns ?? {};
  for (const [name, column] of Object.entries(had)) {
    if (name in wants || !(name in after.svc.userFields)) continue;
    fields[name] = asField(column);
    delete had[name];
  }
  for (const [name, field] of Object.entries(fields)) {
    if (name in after.svc.userFields || !(name in wants)) continue;
    had[name] = asColumn(name, field);
    delete fields[name];
  }
  return before;
}

const timestamps = { field: "timestamptz", column: "timestamp with time zone" } as const;

const asField = ({ type, default: value }: Column): UserField => ({
  type: type === timestamps.column ? timestamps.field : (type as UserField["type"]),
  default: value === undefined ? null : String(value),
});

const asColumn = (name: string, { type, default: value }: UserField): Column => ({
  name,
  type: type === timestamps.field ? timestamps.column : type,
  primaryKey: false,
  notNull: false,
  ...(value !== null && { default: value }),
});

/**
 * The statements between two sets of columns.
 *
 * @throws DefinitionError when PostgreSQL has no conversion from a field's old type to its new one
 */
export function diffUserFields(before: Snapshot, after: Snapshot): { change: string[]; drop: string[] } {
  const had = before.svc.userFields;
  const wants = after.svc.userFields;
  const change = Object.entries(wants).flatMap(([column, field]) => {
    const old = had[column];
    if (old && !converts(old, field)) throw unlike(column, old, field);
    if (old) return alterColumn(userTable, column, { ...old, notNull: false }, { ...field, notNull: false });
    const byDefault = field.default === null ? "" : ` default ${field.default}`;
    return [`alter table ${userTable} add column ${quote(column)} ${field.type}${byDefault};`];
  });
  const gone = Object.keys(had).filter((column) => !(column in wants));
  const drop = gone.map(
    (column) => `-- Loses every user's value in ${column}.\nalter table ${userTable} drop column ${quote(column)};`,
  );
  return { change, drop };
}

/** Whether PostgreSQL can convert the type: everything to text, and numbers to and from booleans, but timestamps to neither. */
function converts({ type: from }: UserField, { type: to }: UserField): boolean {
  return from === to || [from, to].includes("text") || ![from, to].includes("timestamptz");
}

const unlike = (column: string, { type: from }: UserField, { type: to }: UserField) =>
  new DefinitionError(`The user field in auth.user.${column} was ${from}, and PostgreSQL cannot convert it to ${to}.`, {
    hint: "Give the new field another name. The old field keeps its values until you drop it.",
  });
