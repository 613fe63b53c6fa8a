/**
 * Reads texts: literals, templates and sums of them.
 * Next hop: `resolve.ts` says where their parts come from.
 */
import type { Arguments, Origin } from "./origin.ts";
import { literalText, type Node } from "./parse.ts";
import type { SourceFile } from "./scopes.ts";

/** Says where a value comes from; `resolve.ts` has it. */
interface Origins {
  origins(node: Node, file: SourceFile, path: [], given: Arguments): Origin[];
}

/** A text as far as it can be read; null for the parts that cannot. */
export function readText(
  resolver: Origins,
  node: Node,
  file: SourceFile,
  given: Arguments,
  depth = 0,
): (string | null)[] {
  if (depth > 20) return [null];
  const [origin, ...others] = resolver.origins(node, file, [], given);
  if (others.length > 0 || origin?.kind !== "node" || origin.path.length > 0) return [null];
  const { node: value, file: home } = origin;
  const literal = literalText(value);
  if (literal !== undefined) return [literal];
  if (value.type === "BinaryExpression" && value.operator === "+") {
    return join([
      ...readText(resolver, value.left as Node, home, given, depth + 1),
      ...readText(resolver, value.right, home, given, depth + 1),
    ]);
  }
  if (value.type !== "TemplateLiteral") return [null];
  return join(
    value.quasis.flatMap((quasi, index) => {
      const inner = value.expressions[index];
      return [quasi.value.cooked ?? "", ...(inner ? readText(resolver, inner, home, given, depth + 1) : [])];
    }),
  );
}

function join(parts: (string | null)[]): (string | null)[] {
  const joined: (string | null)[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === "string" && typeof last === "string") joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined;
}
