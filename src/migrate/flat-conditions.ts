/**
 * PostgreSQL keeps `a between 1 and 2 and b` as `((a >= 1 and a <= 2) and b)`, and after a dump and a restore as
 * `(a >= 1 and a <= 2 and b)`: it reads its own text in another way. Both are the same condition.
 */

interface Group {
  parts: (string | Group)[];
  /** The words that join its operands. */
  joins: Set<string>;
}

const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|\s+(?:AND|OR)(?=\s)|[^\s'"()]+|\s+/g;
const isJoin = (part: string | Group | undefined) => typeof part === "string" && /^\s+(AND|OR)$/.test(part);

/** @returns the definition without parentheses around an AND within an AND, and an OR within an OR */
export function flatConditions(definition: string): string {
  const top: Group = { parts: [], joins: new Set() };
  const open = [top];
  for (const part of definition.match(token) ?? []) {
    const group = open.at(-1) ?? top;
    if (part === "(") {
      const inner: Group = { parts: [], joins: new Set() };
      group.parts.push(inner);
      open.push(inner);
    } else if (part === ")") open.pop();
    else {
      group.parts.push(part);
      if (isJoin(part)) group.joins.add(part.trim());
    }
  }
  return render(top);
}

function render({ parts, joins }: Group): string {
  const [join] = joins;
  const isOperand = (at: number) => {
    const words = (part: string | Group | undefined) => typeof part !== "string" || part.trim() !== "";
    const before = parts.slice(0, at).findLast(words);
    const after = parts.slice(at + 1).find(words);
    return (before === undefined || isJoin(before)) && (after === undefined || isJoin(after));
  };
  return parts
    .map((part, at) => {
      if (typeof part === "string") return part;
      const isSame = joins.size === 1 && part.joins.size === 1 && join !== undefined && part.joins.has(join);
      return isSame && isOperand(at) ? render(part) : `(${render(part)})`;
    })
    .join("");
}
