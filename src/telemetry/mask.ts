/**
 * Masks secrets in free text, such as messages, error messages and stacks. Detects them by shape: tokens, keys,
 * passwords in URLs, one-time values in queries. It cannot find a secret without a recognizable shape.
 */

const masked = "[redacted]";

/** The first group of a match is kept. A message may contain untrusted text, so no pattern rescans text that it has read. */
const shapes: readonly RegExp[] = [
  /()\beyJ(?:(?!-eyJ)[\w-]){8,}\.[\w-]{8,}\.[\w-]{8,}/g, // JSON Web Tokens
  /\b(Bearer\s+)[\w.~+/=-]{12,}|\b(?:Basic\s+)[A-Za-z0-9+/]{16,}={0,2}/gi,
  // In queries and forms, and in our cookies.
  /((?:[?&]|\b(?:authlib\.)?)(?:\w*token|grant|code|state|ticket|sig|signature|password|secret|api_?key|X-Amz-\w+|X-Goog-\w+)=)[^\s&"'<>;]{6,}/gi,
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:)[^\s/]+(?=@)/gi, // the password of a URL
  /()\b[A-Za-z0-9]{32}\.[A-Za-z0-9+/%]{40,}={0,2}/g, // session tokens
  /()\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{20,}|()\b(?:AKIA[0-9A-Z]{16}\b|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|xox[abpors]-[\w-]{10,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})/g,
  /()\b[a-z][a-z0-9]{1,15}_[\w-]{48}(?![\w-])/g, // API keys (src/kit/key-format.ts)
  /()\bwhsec_[A-Za-z0-9+/]{16,}={0,2}/g,
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** The shortest text that can match any of these. */
export const shortest = 12;

export function mask(text: string): string {
  if (text.length < shortest) return text;
  return shapes.reduce((rest, shape) => rest.replace(shape, (_match, kept = "") => `${kept}${masked}`), text);
}
