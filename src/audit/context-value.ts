/**
 * The part of the context that an expression holds, as far as the audit follows it.
 * Next hop: `context-flow.ts` follows these values through the code.
 */

/** The context, an object with the context in some members, or nothing relevant. */
export type Value = "context" | { readonly [member: string]: Value } | undefined;

/** Limits recursive values: a very large one is treated as the context. */
export const bounded = (value: Value): Value => (JSON.stringify(value ?? null).length > 2000 ? "context" : value);

/** A list or a promise of something. */
export const some = (value: Value): Value => (value === undefined ? undefined : { "?": value });

/** Any member of a value. Nested lists count as one. */
export function anyOf(value: Value): Value {
  if (typeof value !== "object") return value;
  const member = Object.values(value).reduce(merge, undefined);
  return typeof member === "object" && "?" in member ? merge(member, member["?"]) : member;
}

export function memberOf(value: Value, name: string): Value {
  if (typeof value !== "object") return undefined;
  return value[name] ?? value["?"];
}

export function merge(one: Value, other: Value): Value {
  if (one === undefined || other === "context") return other;
  if (other === undefined || one === "context") return one;
  const whole: Record<string, Value> = { ...one };
  for (const [name, value] of Object.entries(other)) whole[name] = merge(whole[name], value);
  return whole;
}
