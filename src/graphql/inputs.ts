/** The inputs of generated mutations, made of the arguments of write fields. */
export const verbs = ["create", "update", "remove"] as const;
export type Verb = (typeof verbs)[number];

/** The arguments of a write field, by name. */
export interface WriteArguments {
  id?: unknown;
  input?: unknown;
  patch?: unknown;
  ifUnmodifiedSince?: unknown;
}

/** Input of the procedure. */
export function inputOf(verb: Verb, { id, input, patch, ifUnmodifiedSince }: WriteArguments): unknown {
  if (verb === "create") return wire(input ?? {});
  if (verb === "remove") return { id };
  return { ...wire(patch), id, ifUnmodifiedSince };
}

/** GraphQL has decoded bytes; the procedure expects base64. */
const wire = (row: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row as object).map(([field, value]) => [
      field,
      value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
    ]),
  );
