/**
 * Takes what looks like a secret out of a text: a message, an error's or a stack, where no name says what it is. By shape:
 * tokens, keys, passwords in URLs, one-time values in queries. A secret without a shape of its own is out of its reach.
 */

const masked = "[redacted]";

/**
 * What is kept of a match is its first group. A message may hold whatever somebody sent: no pattern begins again within what
 * it has just read.
 */
const shapes: readonly RegExp[] = [
  /()\beyJ(?:(?!-eyJ)[\w-]){8,}\.[\w-]{8,}\.[\w-]{8,}/g, // JSON Web Tokens
  /\b(Bearer\s+)[\w.~+/=-]{12,}|\b(?:Basic\s+)[A-Za-z0-9+/]{16,}={0,2}/gi,
  // In queries and forms, and as our cookies carry them.
  /((?:[?&]|\b(?:authlib\.)?)(?:\w*token|grant|code|state|ticket|sig|signature|password|secret|api_?key|X-Amz-\w+|X-Goog-\w+)=)[^\s&"'<>;]{6,}/gi,
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi, // the password of a URL
  /()\b[A-Za-z0-9]{32}\.[A-Za-z0-9+/%]{40,}={0,2}/g, // session tokens
  /()\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{20,}|()\b(?:AKIA[0-9A-Z]{16}\b|AIza[\w-]{35}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|xox[abpors]-[\w-]{10,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|SG\.[\w-]{16,}\.[\w-]{16,})/g,
  /()-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];

/** The shortest text that any of these can be in. */
export const shortest = 12;

export function mask(text: string): string {
  if (text.length < shortest) return text;
  return shapes.reduce((rest, shape) => rest.replace(shape, (_match, kept = "") => `${kept}${masked}`), text);
}
