/**
 * Generates the client's `api.ts`: the procedures' names at run time, and their types by a type-only import of the
 * backend, which adds nothing to a bundle.
 * Next hop: `client/sdk/src/operation.ts` is what the file is written in.
 */
import { relative, sep } from "node:path";
import type { Api } from "../contract/api.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import { DefinitionError } from "../kit/definition-error.ts";

/** Names by segment; a leaf holds its expression. */
interface Folder {
  [segment: string]: Folder | string;
}

/**
 * @param folder of the generated file, absolute
 * @param index  the backend's index.ts, absolute
 * @throws DefinitionError when a procedure's name is also the prefix of another's
 */
export function clientApi(api: Api, folder: string, index: string): string {
  const { procedures, crud, paths } = api["~svc"];
  const root: Folder = {};
  const kinds = new Set<string>();
  for (const { name, kind } of procedures.values()) {
    if (kind === "internal") continue;
    kinds.add(kind);
    const path = paths.get(name)?.map((key) => `[${JSON.stringify(key)}]`);
    // The legacy crud bag is not in the backend's type, so its operations are callable but untyped.
    const type = path ? `Procedures${path.join("")}` : (builtIn(name) ?? "Untyped");
    const columns = columnsOf(crud, name);
    place(root, name, `${kind}<${type}>(${[JSON.stringify(name), ...(columns ? [columns] : [])].join(", ")})`);
  }
  const text = [
    "// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.",
    kinds.size > 0 ? `import { ${[...kinds].sort().join(", ")} } from "@svc/client";` : "",
    `import type backend from ${JSON.stringify(importPath(folder, index))};`,
    "",
    'type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;',
    'type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;',
    ...crud.filter(hasConversions).map((resource) => `\n${columnsConstant(resource)}`),
    "",
    `const operations = ${print(root, "")} as const;`,
    "",
    "// Interfaces, which the compiler names in what it says; other types it prints, with every table in them.",
    ...interfaces(root),
    "",
    "export const api: Api = operations;",
    "",
  ];
  const body = text.join("\n").replace("\n\nimport type", "\nimport type");
  const untyped = 'type Untyped = { "~svc": { types?: { input: unknown; output: unknown } } };\n';
  return body.includes("<Untyped>") ? body.replace("\n\nconst operations", `\n${untyped}\nconst operations`) : body;
}

/** The type of a procedure of the platform. */
function builtIn(name: string): string | undefined {
  const [group, operation] = name.split(".");
  return group === "workflows" ? `Workflows["${operation}"]` : undefined;
}

const hasConversions = (crud: CrudDefinition) => crud.columns.some(({ conversion }) => conversion !== null);
const constantName = ({ prefix }: CrudDefinition) => `${prefix}Columns`;

/** The columns of a resource whose values are not plain JSON in the application. */
function columnsConstant(crud: CrudDefinition): string {
  const entries = crud.columns
    .filter(({ conversion, property }) => conversion !== null && crud.visible.has(property))
    .map(({ property, conversion }) => `${keyOf(property)}: "${conversion}"`);
  return `const ${constantName(crud)} = {\n  ${entries.join(",\n  ")},\n} as const;`;
}

const keyOf = (property: string) => (/^[A-Za-z_$][\w$]*$/.test(property) ? property : JSON.stringify(property));

function columnsOf(resources: readonly CrudDefinition[], name: string): string | undefined {
  const crud = resources.find(({ prefix, methods }) => methods.some((method) => name === `${prefix}.${method}`));
  return crud && hasConversions(crud) ? constantName(crud) : undefined;
}

function place(root: Folder, name: string, expression: string): void {
  const segments = name.split(".");
  const leaf = segments.pop() as string;
  let folder = root;
  for (const segment of segments) {
    folder[segment] ??= {};
    const next = folder[segment];
    if (typeof next === "string") throw collision(name);
    folder = next;
  }
  if (leaf in folder) throw collision(name);
  folder[leaf] = expression;
}

const collision = (name: string) =>
  new DefinitionError(`The name "${name}" is also the beginning of another procedure's name, or begins with one.`, {
    hint: "In `api` a name is either an operation or a group of them. Give one of the two another .name().",
  });

function print(folder: Folder, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(folder).map(([segment, item]) => {
    return `${inner}${segment}: ${typeof item === "string" ? item : print(item, inner)},`;
  });
  return lines.length > 0 ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
}

/** One interface per group, inner groups first. */
function interfaces(root: Folder): string[] {
  const lines: string[] = [];
  const names = new Set<string>();
  const declare = (folder: Folder, path: string[]): string => {
    const type = `(typeof operations)${path.map((segment) => `["${segment}"]`).join("")}`;
    const members = Object.entries(folder).map(
      ([segment, item]) =>
        `readonly ${segment}: ${typeof item === "string" ? `${type}["${segment}"]` : declare(item, [...path, segment])};`,
    );
    const name = path.length === 0 ? "Api" : unusedName(path, names);
    const isFlat = path.length > 0 && !Object.values(folder).some((item) => typeof item !== "string");
    if (isFlat) lines.push(`interface ${name} extends Readonly<${type}> {}`);
    else
      lines.push(`${path.length === 0 ? "export " : ""}interface ${name} {`, ...members.map((one) => `  ${one}`), "}");
    return name;
  };
  declare(root, []);
  return lines;
}

/** ["books", "loans"] and ["booksLoans"] both give BooksLoansOperations; the second one gets a number. */
function unusedName(path: readonly string[], used: Set<string>): string {
  const name = `${path.map((segment) => segment.charAt(0).toUpperCase() + segment.slice(1)).join("")}Operations`;
  let free = name;
  for (let count = 2; used.has(free); count++) free = `${name}${count}`;
  used.add(free);
  return free;
}

function importPath(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join("/");
  return path.startsWith(".") ? path : `./${path}`;
}
