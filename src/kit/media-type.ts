/** Media types of bodies. */

/** JSON by its own type, by a `+json` suffix, or by default where no type is given. */
export const isJson = (type: string) => type === "" || type === "application/json" || type.endsWith("+json");
