/**
 * A better-auth plugin: checks fields of users, and the end of a ban, that the `admin` plugin takes unchecked. A wrong type or a
 * time that does not exist would be an error of the database, and another id would part the user from its rows.
 * Next hop: `src/auth/routes/plugins.ts` answers what the database refuses all the same.
 */
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth";
import { APIError, createAuthMiddleware } from "better-auth/api";
import { type DBFieldAttribute, getAuthTables } from "better-auth/db";

/** Ids of users are in notices, which PostgreSQL limits to 8000 bytes, and in the setting svc.user_id, where a tab ends them. */
const userId = /^[!-~]{1,255}$/;

/** In milliseconds. Beyond the year 275760 there is no Date. */
const year10000 = Date.UTC(10_000, 0);

type Type = DBFieldAttribute["type"];

/** Why a member of `data` is refused, or undefined. */
function mistakeIn(options: BetterAuthOptions, path: string, name: string, value: unknown): string | undefined {
  if (name === "id" && path === "/admin/update-user") return "cannot be changed";
  if (name === "id" && !(typeof value === "string" && userId.test(value))) {
    return "must be a text of 1 to 255 ASCII characters without spaces";
  }
  const field = getAuthTables(options).user?.fields[name];
  // The plugin reads roles itself; it ignores members that are no fields.
  if (!field || name === "role") return undefined;
  if (value === null || value === undefined) return field.required ? "must have a value" : undefined;
  return isOf(field.type, value) ? undefined : `must be ${wordOf(field.type)}`;
}

function isOf(type: Type, value: unknown): boolean {
  if (Array.isArray(type)) return typeof value === "string" && type.includes(value);
  if (type === "date")
    return typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value) && !Number.isNaN(Date.parse(value));
  if (type === "string[]") return Array.isArray(value) && value.every((one) => typeof one === "string");
  if (type === "number[]") return Array.isArray(value) && value.every(Number.isFinite);
  if (type === "number") return Number.isFinite(value);
  if (type === "json") return true;
  return typeof value === type;
}

const words: Record<string, string> = {
  string: "a text",
  boolean: "true or false",
  number: "a number",
  date: "a time such as 2030-01-31T12:00:00Z",
  "string[]": "a list of texts",
  "number[]": "a list of numbers",
};
const wordOf = (type: Type): string =>
  Array.isArray(type) ? `one of ${type.join(", ")}` : (words[type as string] ?? String(type));

export const inputRules: BetterAuthPlugin = {
  id: "svc-input",
  hooks: {
    before: [
      {
        matcher: ({ path }) => path === "/admin/create-user" || path === "/admin/update-user",
        handler: createAuthMiddleware(async ({ body, context, path }) => {
          for (const [name, value] of Object.entries(Object(Object(body).data))) {
            const mistake = mistakeIn(context.options, path, name, value);
            if (mistake) invalid(["data", name], mistake);
          }
        }),
      },
      {
        matcher: ({ path }) => path === "/admin/ban-user",
        handler: createAuthMiddleware(async ({ body }) => {
          const { banExpiresIn: seconds } = Object(body) as { banExpiresIn?: unknown };
          if (typeof seconds !== "number" || Math.abs(Date.now() + seconds * 1000) < year10000) return;
          invalid(["banExpiresIn"], "must be a number of seconds that ends before the year 10000");
        }),
      },
    ],
  },
};

/** In the library's form for bodies that do not match their schema. @throws APIError */
export function invalid(path: readonly string[], mistake: string): never {
  throw new APIError("BAD_REQUEST", {
    code: "VALIDATION_ERROR",
    message: `[${["body", ...path].join(".")}] ${mistake}`,
  });
}
