/** Names in TypeScript for tables, columns, enums and schemas of a database. */

/** The names of one scope: each is given once. */
export class Names {
  readonly #taken: Set<string>;

  /** @param taken names that mean something else there */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** @returns `name` in camel case; with a number behind it when it is taken */
  give(name: string): string {
    const wanted = camelCase(name);
    for (let count = 1; ; count++) {
      const candidate = count === 1 ? wanted : `${wanted}${count}`;
      if (this.#taken.has(candidate)) continue;
      this.#taken.add(candidate);
      return candidate;
    }
  }
}

/** `user_id`, `User Id` and `userId` become `userId`. */
function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/[^\p{L}\p{N}$]+/u).filter(Boolean);
  const start = /^\p{Lu}+$/u.test(first)
    ? first.toLowerCase()
    : first.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase());
  const joined = start + others.map((word) => word.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())).join("");
  return /^[\p{L}$]/u.test(joined) ? joined : `_${joined}`;
}

/** Words that cannot name a constant of a module. https://tc39.es/ecma262/#prod-ReservedWord */
export const reservedWords =
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield".split(
    " ",
  );

const isPlain = (name: string) => /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name);

/** A name as the key of an object. */
export const keyOf = (name: string): string => (isPlain(name) ? name : JSON.stringify(name));

/** A member of an object. */
export const memberOf = (object: string, name: string): string =>
  isPlain(name) ? `${object}.${name}` : `${object}[${JSON.stringify(name)}]`;
