/** The effective configuration as text, without its secrets. */
import type { EffectiveConfig } from "./config.ts";

// The URL of a receiver may hold its secret in the path.
const SECRET_NAME = /secret|password|token|api_?key|headers|webhooks\.variables/i;
const MASK = "***";

/**
 * Prints the configuration, one `path: value` per line, with secrets and the passwords of URLs masked.
 *
 * @example
 * console.log(describeConfig(await loadConfig())); // database.url: postgres://svc:***@db:5432/app
 */
export function describeConfig(config: EffectiveConfig): string {
  const lines = (path: string, value: unknown): string[] => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return [`${path}: ${show(path, value)}`];
    return Object.entries(value).flatMap(([key, inner]) => lines(path ? `${path}.${key}` : key, inner));
  };
  return lines("", config).join("\n");
}

function show(path: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((entry) => show(path, entry)).join(", ") || "none";
  if (value === null || value === undefined) return "none";
  // limits.passwordsPerAccount is a number; secrets are texts.
  if (typeof value !== "string") return String(value);
  return SECRET_NAME.test(path) ? MASK : maskUrl(value);
}

/**
 * Masks what a URL can hide: its password, over http also its user name (often a token), and parameters with the name
 * of a secret.
 */
function maskUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.password) url.password = MASK;
  if (url.username && url.protocol.startsWith("http")) url.username = MASK;
  for (const name of new Set(url.searchParams.keys())) if (SECRET_NAME.test(name)) url.searchParams.set(name, MASK);
  // Unchanged text stays as written: the parser would add a slash to a bare origin.
  return url.href.includes(MASK) ? url.href : text;
}
