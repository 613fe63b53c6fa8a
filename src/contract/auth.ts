/**
 * How people sign in, as an application declares it in its `auth.ts`.
 * Next hop: `src/auth/library.ts` makes better-auth's options of it.
 */
import type { BetterAuthOptions } from "better-auth";
import { DefinitionError } from "../kit/definition-error.ts";
import { kindOf } from "../kit/v.ts";

/** A further column of the user. Never taken from sign-up input: a new user gets the default, trusted code changes it. */
export type AdditionalField =
  | { type: "text"; default?: string }
  | { type: "boolean"; default?: boolean }
  | { type: "integer"; default?: number }
  /** `"now"` is the moment of sign-up. */
  | { type: "timestamp"; default?: Date | "now" };

/** A message that the application's mailer is to send. */
export interface AuthMail {
  /** To whom. */
  email: string;
  /** The link that the mail must carry. It is as good as a password: it belongs in no log. */
  url: string;
}

type SendMail = (mail: AuthMail) => Promise<void> | void;

/** What `defineAuth` takes. Everything is optional. */
export interface AuthDefinition {
  user?: {
    /** By camelCase name; the column is its snake_case form. They travel in JWTs: keep them short, and not secret. */
    additionalFields?: Record<string, AdditionalField>;
  };
  emailAndPassword?: {
    /** Whether people may sign up and in with a password. (Default: true) */
    enabled?: boolean;
    /**
     * Sends the link to the page on which a new password is chosen. Called after the answer, for addresses that have an
     * account; at most 10 seconds are waited for it. (Default: none; outside production the mail is in the log)
     */
    sendResetPassword?: SendMail;
  };
  emailVerification?: {
    /**
     * Sends the link that proves an address: at sign-up and on request. Called after the answer; at most 10 seconds are
     * waited for it. (Default: none; outside production the mail is in the log)
     */
    sendVerificationEmail?: SendMail;
    /**
     * Whether a password opens a session only once the address is proved. A sign-up then makes the user and no session.
     * In production this needs `sendVerificationEmail`. (Default: false)
     */
    required?: boolean;
  };
  oauth?: {
    /** How a social sign-in may end. The first serves clients that do not say. (Default: ["token"]) */
    allowedReturnModes?: readonly ("token" | "cookie")[];
  };
  /**
   * Extends better-auth's options; return the defaults with your changes. Called without a database too, by `svc codegen`
   * and `svc migrate generate`, which writes what plugins need. Database, secrets, origins, cookies and names of columns
   * stay as they are, whatever is returned.
   */
  betterAuth?: (defaults: BetterAuthOptions) => BetterAuthOptions;
}

const knownKeys = {
  "": ["user", "emailAndPassword", "emailVerification", "oauth", "betterAuth"],
  user: ["additionalFields"],
  emailAndPassword: ["enabled", "sendResetPassword"],
  emailVerification: ["sendVerificationEmail", "required"],
  oauth: ["allowedReturnModes"],
} as const;

/** What the library, or a JWT, already calls by these names. */
const reservedFields = new Set(["id", "email", "name", "emailVerified", "image", "createdAt", "updatedAt"]);

const defaultIsRight: Record<AdditionalField["type"], (value: unknown) => boolean> = {
  text: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= 2 ** 31 - 1,
  timestamp: (value) => value === "now" || (value instanceof Date && !Number.isNaN(value.getTime())),
};

/**
 * Declares authentication; the default export of `auth.ts`.
 *
 * @throws DefinitionError for unknown keys, for additional fields whose name, type or default cannot be, and without a return mode
 * @example
 * export default defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
 */
export function defineAuth<const Definition extends AuthDefinition>(definition: Definition): Definition {
  for (const [section, known] of Object.entries(knownKeys)) {
    const part: unknown = section ? definition[section as keyof AuthDefinition] : definition;
    if (part === undefined) continue;
    if (typeof part !== "object" || part === null)
      throw new DefinitionError(`defineAuth: ${section} must be an object.`);
    for (const [key, value] of Object.entries(part)) {
      const path = section ? `${section}.${key}` : key;
      if (!(known as readonly string[]).includes(key)) {
        throw new DefinitionError(`defineAuth does not know the key "${path}".`, {
          hint: `Known: ${known.join(", ")}.`,
        });
      }
      checkKind(path, value);
    }
  }
  const modes: unknown = definition.oauth?.allowedReturnModes ?? ["token"];
  if (!Array.isArray(modes) || !modes.every((mode) => mode === "token" || mode === "cookie")) {
    throw new DefinitionError('defineAuth: oauth.allowedReturnModes takes "token" and "cookie".');
  }
  if (modes.length === 0) {
    throw new DefinitionError("defineAuth: oauth.allowedReturnModes is empty, so no social sign-in could complete.", {
      hint: "Name a mode, or leave the key out. Without GOOGLE_CLIENT_ID there is no social sign-in anyway.",
    });
  }
  for (const [name, field] of Object.entries(definition.user?.additionalFields ?? {})) checkField(name, field);
  return definition;
}

/** What these must be. A text such as "false" would switch on what it should switch off. */
const kinds: Readonly<Record<string, "boolean" | "function">> = {
  betterAuth: "function",
  "emailAndPassword.enabled": "boolean",
  "emailAndPassword.sendResetPassword": "function",
  "emailVerification.required": "boolean",
  "emailVerification.sendVerificationEmail": "function",
};

function checkKind(path: string, value: unknown): void {
  const kind = Object.hasOwn(kinds, path) ? kinds[path] : undefined;
  if (kind === undefined || value === undefined || typeof value === kind) return;
  throw new DefinitionError(`defineAuth: ${path} takes a ${kind}, and got ${kindOf(value)}.`, {
    hint: kind === "boolean" ? 'For a variable, write process.env.NAME === "true".' : "Pass the function itself.",
  });
}

function checkField(name: string, field: AdditionalField): void {
  const where = `defineAuth: the additional field "${name}"`;
  if (typeof field !== "object" || field === null) throw new DefinitionError(`${where} is ${kindOf(field)}.`);
  const unknown = Object.keys(field).find((key) => key !== "type" && key !== "default");
  if (unknown !== undefined) {
    throw new DefinitionError(`${where} has the key "${unknown}".`, { hint: "Known: type, default." });
  }
  if (reservedFields.has(name)) throw new DefinitionError(`${where} has the name of a built-in user field.`);
  if (!/^[a-z][A-Za-z0-9]{0,40}$/.test(name)) {
    throw new DefinitionError(`${where} must be named in camelCase, with letters and digits, at most 41.`);
  }
  if (!Object.hasOwn(defaultIsRight, field.type)) {
    throw new DefinitionError(`${where} has the type "${field.type}".`, {
      hint: `Allowed: ${Object.keys(defaultIsRight).join(", ")}.`,
    });
  }
  if (field.default !== undefined && !defaultIsRight[field.type](field.default)) {
    throw new DefinitionError(`${where} is a ${field.type}, and its default is not.`);
  }
}
