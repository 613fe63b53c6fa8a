/**
 * Whether a policy's condition is false for API keys without a scope, as far as its text tells. `user_id = me or has_scope('x')` asks
 * in vain: it admits each key to the rows of its user.
 * Next hop: `src/auth/api-keys/check-scopes.ts` and `src/migrate/generate/schema-scopes.ts` ask it.
 */

/** What a policy asks for one command (`sql/auth/list_scope_conditions.sql`). */
export interface PolicyConditions {
  relation: string;
  command: string;
  permissive: boolean;
  /** It asks for a scope if one of these does. */
  conditions: readonly string[];
}

/** The tables with a policy that admits signed-in users without asking for a scope, where no restrictive one of that command asks. */
export function openToKeys(policies: readonly PolicyConditions[]): Set<string> {
  const asks = ({ conditions }: PolicyConditions) => conditions.some(asksForScope);
  const closed = policies
    .filter((one) => !one.permissive && asks(one))
    .map(({ relation, command }) => `${command} ${relation}`);
  const open = policies.filter(
    (one) => one.permissive && !asks(one) && !closed.includes(`${one.command} ${one.relation}`),
  );
  return new Set(open.map(({ relation }) => relation));
}

/**
 * Each alternative of `or` must ask by `svc.has_scope()`, and of the parts of `and` one. Within other functions, CASE, and sub-selects
 * of a table the call counts wherever it stands.
 */
function asksForScope(condition: string): boolean {
  const text = condition.trim();
  const inner = unwrap(text);
  if (inner !== undefined) return asksForScope(inner);
  const alternatives = split(text, "or");
  if (alternatives.length > 1) return alternatives.every(asksForScope);
  const parts = split(text, "and");
  if (parts.length > 1) return parts.some(asksForScope);
  return /\bhas_scope\s*\(/.test(text) && !/^not\b|\bis\s+(not\s+true|false)$|=\s*false$/i.test(text);
}

/** Words outside of texts, names and parentheses, and the end of each pair of parentheses. */
function* outside(text: string): Generator<{ word: string; at: number }> {
  let depth = 0;
  for (const { 0: word, index: at } of text.matchAll(/'(?:[^']|'')*'|"[^"]*"|[()]|\w+/g)) {
    if (word === "(") depth++;
    if (word === ")") depth--;
    if (depth === 0) yield { word: word.toLowerCase(), at };
  }
}

function split(text: string, operator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { word, at } of outside(text)) {
    if (word !== operator) continue;
    parts.push(text.slice(from, at));
    from = at + word.length;
  }
  return [...parts, text.slice(from)];
}

/** What stands in parentheses around all of it, also as a sub-select without a table. */
function unwrap(text: string): string | undefined {
  const [first] = outside(text);
  if (!text.startsWith("(") || first?.at !== text.length - 1) return undefined;
  const inner = text.slice(1, -1).trim();
  if (!/^select\b/i.test(inner)) return inner;
  const words = [...outside(inner)].map(({ word }) => word);
  return words.includes("from") ? undefined : inner.replace(/^select\b/i, "").replace(/\bas\s+("[^"]*"|\w+)$/i, "");
}
