/** Names in TypeScript that is generated. */

/** Whether it stands as a property or a variable without quotes. https://tc39.es/ecma262/#prod-IdentifierName */
export const isPlainName = (name: string): boolean => /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name);

/** A name as the key of an object. */
export const keyOf = (name: string): string => (isPlainName(name) ? name : JSON.stringify(name));

/** The name, or with a number if it is used. Adds it to the used ones. */
export function unusedName(name: string, used: Set<string>): string {
  let free = name;
  for (let count = 2; used.has(free); count++) free = `${name}${count}`;
  used.add(free);
  return free;
}
