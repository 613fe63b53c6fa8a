/** Names in TypeScript for tables, columns, enums and schemas of a database. */
import { isPlainName, unusedName } from "../../kit/written-names.ts";

/** @param taken the names of the scope, to which it is added @returns `name` in camel case; with a number when it is taken */
export const givenName = (name: string, taken: Set<string>): string => unusedName(camelCase(name), taken);

/** `user_id`, `User Id` and `userId` become `userId`. */
function camelCase(name: string): string {
  const [first = "", ...others] = name.split(/(?:[^\p{ID_Continue}$]|_)+/u).filter(Boolean);
  const start = /^\p{Lu}+$/u.test(first)
    ? first.toLowerCase()
    : first.replace(/^\p{Lu}/u, (letter) => letter.toLowerCase());
  const joined = start + others.map((word) => word.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase())).join("");
  return isPlainName(joined) ? joined : `_${joined}`;
}

/** Words that cannot name a constant of a module. https://tc39.es/ecma262/#prod-ReservedWord */
export const reservedWords =
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield".split(
    " ",
  );

/** A member of an object. */
export const memberOf = (object: string, name: string): string =>
  isPlainName(name) ? `${object}.${name}` : `${object}[${JSON.stringify(name)}]`;
