/**
 * Generates `backend/generated/db.ts`: the type of `context.db`, for functions that handlers share, and those that the client's
 * `api.ts` needs of `@svc/core`, which its folder may not resolve.
 */
import { join, relative, sep } from "node:path";

/** @param rootDir of the backend, absolute */
export const dbModuleOf = (rootDir: string): string => join(rootDir, "generated", "db.ts");

/** @param folder where the file will be @param schema the application's schema files */
export function dbModule(folder: string, schema: readonly string[]): string {
  const names = schema.map((_, index) => (schema.length === 1 ? "schema" : `schema${index + 1}`));
  const imports = schema.map((file, index) => `import type * as ${names[index]} from "${importPath(folder, file)}";\n`);
  return `// Written by svc codegen. Do not edit.
import type { RequestDatabase } from "@svc/core";
${imports.join("")}
/** The type of \`context.db\`, for functions that take it: \`(db: Db) => db.select()…\` */
export type Db = RequestDatabase${names.length > 0 ? `<${names.map((name) => `typeof ${name}`).join(" & ")}>` : ""};

/** The types of \`api.workflows\`, for the client's \`api.ts\`. */
export type { WorkflowProcedures } from "@svc/core";
`;
}

/** Of a file, as a file in the folder imports it. */
export function importPath(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join("/");
  return path.startsWith(".") ? path : `./${path}`;
}
