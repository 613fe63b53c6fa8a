/**
 * Checks a job's arguments: plain JSON, small, and without secrets, because they stay in a table until the job runs,
 * and in backups after that. Errors name the place of a problem, never the value.
 * Next hop: `context.ts` keeps them; `workers/tasks/procedure.ts` has them checked again when the job runs.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { validate } from "../contract/middleware.ts";
import { type Issue, SvcError } from "../kit/svc-error.ts";

/** In bytes of JSON. */
const maxArgumentBytes = 65_536;
/** Members inside members. */
const maxDepth = 64;

/** A session token without its signature looks like an id, as many keys do, so the member's name decides. */
const secretName = /(token|secret|api_?-?key|private_?-?key|authorization|cookie|credentials?)$/i;
/** Chosen by people, so it may be short and contain spaces. */
const passwordName = /(passw(or)?d|passphrase)$/i;
/** Prompts of users must not be stored in the queue. */
const promptName = /^((raw|system|user)_?)?prompts?$/i;
/** Characters; a shorter value is not a secret, or a weak one. */
const secretLength = 12;

/** Whether a text under this name is refused, however harmless it looks. */
export const isSecretName = (name: string) => [secretName, passwordName, promptName].some((one) => one.test(name));

/**
 * Secrets that must not be stored, whatever the member's name is. The text is untrusted, so no pattern rescans text
 * that it has read.
 */
const secrets: readonly { is: string; pattern: RegExp }[] = [
  { is: "a JSON Web Token", pattern: /\beyJ(?:(?!-eyJ)[\w-]){8,}\.[\w-]{8,}\.[\w-]{8,}/ },
  { is: "a session token", pattern: /\bauthlib\.session_token=|^[A-Za-z0-9]{32}\.[A-Za-z0-9+/%]{40,}={0,2}$/ },
  { is: "an API key", pattern: /\b[a-z][a-z0-9]{1,15}_[\w-]{48}(?![\w-])/ },
  { is: "an Authorization header", pattern: /^\s*(Bearer|Basic)\s+[\w.~+/=-]{16,}\s*$/i },
  { is: "a URL with a grant", pattern: /[?&]grant=[\w.~%+/=-]{8,}/ },
  // Upload URLs and links in our mails contain a token.
  { is: "a signed URL", pattern: /[?&](X-Amz-Signature|X-Goog-Signature|sig|token)=[\w%+/=-]{16,}/i },
  { is: "a database URL", pattern: /\b(postgres(ql)?|mysql|mariadb|mongodb(\+srv)?|rediss?|amqps?):\/\/\S+/i },
  { is: "a URL with a password", pattern: /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]+:[^\s/@]+@/i },
  {
    is: "a provider's key",
    pattern:
      /\b(sk|pk|rk)[-_](live|test|proj|ant|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{20,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{35}|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bxox[abpors]-[\w-]{10,}|\bhf_[A-Za-z0-9]{30,}|\bgsk_[A-Za-z0-9]{30,}|\bSG\.[\w-]{16,}\.[\w-]{16,}/,
  },
  { is: "a private key", pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
];

/**
 * Checks a job's arguments.
 *
 * @param procedure that takes the arguments, for the message
 * @returns them as JSON text, or null when there are none
 * @throws SvcError VALIDATION_FAILED that names the path of each problem
 */
export function jobArguments(procedure: string, args: unknown): string | null {
  if (args === undefined) return null;
  const issue = findIssue(args, [], new Set());
  if (issue) throw refused(procedure, issue);
  const text = JSON.stringify(args);
  const bytes = Buffer.byteLength(text);
  if (bytes > maxArgumentBytes) {
    throw refused(procedure, { path: [], message: `are ${bytes} bytes of JSON, and may be ${maxArgumentBytes}` });
  }
  return text;
}

/**
 * Checks stored arguments against the procedure's `.input()`. The job keeps the caller's value, not the schema's
 * output, because the worker runs the schema again.
 *
 * @param json of `jobArguments`
 * @throws SvcError VALIDATION_FAILED
 */
export async function checkArguments(
  procedure: string,
  schema: StandardSchemaV1 | undefined,
  json: string | null,
): Promise<void> {
  if (!schema) return;
  const { issues } = await validate(schema, asWorkersRead(json));
  if (!issues) return;
  throw new SvcError("VALIDATION_FAILED", `The job "${procedure}" does not take these arguments.`, {
    issues: issues.map(({ path, message }) => ({ path: ["args", ...path], message })),
  });
}

/** Null means that no arguments were passed. */
const asWorkersRead = (json: string | null): unknown => JSON.parse(json ?? "null") ?? undefined;

interface Found {
  path: (string | number)[];
  message: string;
}

function findIssue(value: unknown, path: (string | number)[], above: Set<object>): Found | null {
  const problem = (message: string): Found => ({ path, message });
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "number")
    return Number.isFinite(value) ? null : problem(`is ${value}, which JSON cannot represent`);
  if (typeof value === "string") return findInText(value, path);
  if (typeof value !== "object") return problem(`is a ${typeof value}, which JSON cannot represent`);

  if (above.has(value)) return problem("contains itself");
  if (above.size >= maxDepth) return problem(`is nested deeper than ${maxDepth} levels`);
  if (!Array.isArray(value) && !isPlain(value)) {
    const kind = value.constructor?.name ?? "object";
    return problem(
      `is a ${kind}; pass ${kind === "Date" ? "its toISOString()" : "plain JSON, or the id of a stored row"}`,
    );
  }
  above.add(value);
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    // As in JSON.stringify: an undefined member of an object is omitted, but a gap in a list becomes null.
    if (member === undefined && !Array.isArray(value)) continue;
    const here = [...path, key];
    const found = typeof key === "string" ? findInText(key, path) || findNamed(key, member, here) : null;
    const issue = found || findIssue(member, here, above);
    if (issue) return issue;
  }
  above.delete(value);
  return null;
}

function findInText(text: string, path: (string | number)[]): Found | null {
  if (text.includes("\0")) return { path, message: "contains NUL, which cannot be stored" };
  if (!text.isWellFormed()) return { path, message: "contains half of a surrogate pair, which cannot be stored" };
  if (text.length > maxArgumentBytes) return null; // later refused for its size
  const secret = secrets.find(({ pattern }) => pattern.test(text));
  return secret ? { path, message: `looks like ${secret.is}` } : null;
}

function findNamed(name: string, value: unknown, path: (string | number)[]): Found | null {
  if (typeof value === "string" && value !== "" && passwordName.test(name))
    return { path, message: "has the name of a secret" };
  const isSecret =
    typeof value === "string" && value.length >= secretLength && !/\s/.test(value) && secretName.test(name);
  if (isSecret) return { path, message: "has the name of a secret" };
  const isPrompt = typeof value === "string" && value.length >= secretLength && promptName.test(name);
  return isPrompt || isConversation(value) ? { path, message: "looks like a raw prompt" } : null;
}

const isConversation = (value: unknown): boolean =>
  Array.isArray(value) && value.some((item) => typeof item?.role === "string" && typeof item?.content === "string");

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && !("toJSON" in value);
}

function refused(procedure: string, { path, message }: Found): SvcError {
  const place = ["args", ...path].reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : text === "" ? key : `${text}.${key}`),
    "",
  );
  const issues: Issue[] = [{ path: ["args", ...path], message: `${place} ${message}` }];
  return new SvcError("VALIDATION_FAILED", `The job "${procedure}" cannot be scheduled: ${place} ${message}.`, {
    issues,
    hint: "Arguments are stored until the job runs: at most 64 KiB of plain JSON, ids instead of contents, no secrets.",
  });
}
