/**
 * Generates the client's `api.ts`: the procedures' names at run time, and their types by a type-only import of the
 * backend, which adds nothing to a bundle.
 * Next hop: `resources.ts` for generated CRUD; `client/sdk/src/operation.ts` for the functions that the file calls.
 */
import type { Api } from "../contract/api.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { importPath } from "./db-module.ts";
import { Resources, unusedName } from "./resources.ts";

/** Names by segment; a leaf holds its expression. */
interface Folder {
  [segment: string]: Folder | string;
}

/** Without inherited members: a procedure may be named toString. */
const emptyFolder = (): Folder => Object.create(null);

/**
 * @param folder of the generated file, absolute
 * @param index  the backend's index.ts, absolute
 * @throws DefinitionError when a procedure's name is also the prefix of another's
 */
export function clientApi(api: Api, folder: string, index: string): string {
  const { procedures, crud, paths } = api["~svc"];
  const root = emptyFolder();
  const imported = new Set<string>();
  const typeOf = (name: string) => {
    const path = paths.get(name)?.map((key) => `[${JSON.stringify(key)}]`);
    return path && `Procedures${path.join("")}`;
  };
  const resources = new Resources(crud, typeOf);
  for (const { name, kind } of procedures.values()) {
    if (kind === "internal") continue;
    const [read, measured] = [resources.readBy(name), resources.measuredBy(name)];
    const resource = read ?? measured;
    const maker = read ? "resourceQuery" : measured ? "aggregateQuery" : kind;
    imported.add(maker);
    // The legacy crud bag is not in the backend's type, so its operations are callable but untyped.
    const types = [typeOf(name) ?? builtIn(name) ?? "Untyped", ...(resource ? [resource] : [])];
    const columns = measured ? undefined : resources.columnsOf(name); // groups are plain JSON
    place(
      root,
      name,
      `${maker}<${types.join(", ")}>(${[JSON.stringify(name), ...(columns ? [columns] : [])].join(", ")})`,
    );
  }
  const interfacesOfResources = resources.interfaces();
  for (const type of ["Conversions", "FiltersOf", "Many", "One", "RowIn"])
    if ([...resources.constants(), ...interfacesOfResources].some((line) => new RegExp(`\\b${type}\\b`).test(line)))
      imported.add(`type ${type}`);
  const text = [
    "// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.",
    imported.size > 0 ? importOf([...imported]) : "",
    `import type backend from ${JSON.stringify(importPath(folder, index))};`,
    "",
    'type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;',
    'type Workflows = NonNullable<(typeof backend)["~svc"]["workflowTypes"]>;',
    ...resources.constants().map((constant) => `\n${constant}`),
    ...interfacesOfResources.map((one) => `\n${one}`),
    "",
    `const operations = ${print(root, "")} as const;`,
    "",
    "// Interfaces: the compiler names them in its messages. It would print other types with every table in them.",
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

/** In characters: how long formatters let a line be. */
const width = 120;

/** In the order and layout of formatters. */
function importOf(names: string[]): string {
  // Letter by letter, a capital before its small letter.
  const key = (name: string) =>
    name.replace("type ", "").replace(/./g, (c) => c.toLowerCase() + (/[A-Z]/.test(c) ? 0 : 1));
  const sorted = names.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const line = `import { ${sorted.join(", ")} } from "@svc/client";`;
  return line.length <= width
    ? line
    : `import {\n${sorted.map((name) => `  ${name},\n`).join("")}} from "@svc/client";`;
}

function place(root: Folder, name: string, expression: string): void {
  const segments = name.split(".");
  const leaf = segments.pop() as string;
  let folder = root;
  for (const segment of segments) {
    folder[segment] ??= emptyFolder();
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
    const line = `${inner}${segment}: ${typeof item === "string" ? item : print(item, inner)},`;
    return typeof item === "string" && line.length > width ? broken(line, inner) : line;
  });
  return lines.length > 0 ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
}

/** As formatters break a call that is too long for a line. */
function broken(line: string, indent: string): string {
  const [, head, args = ""] = /^(.*\()(.*)\),$/.exec(line) ?? [];
  return `${head}\n${args
    .split(", ")
    .map((arg) => `${indent}  ${arg},\n`)
    .join("")}${indent}),`;
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
    const name = path.length === 0 ? "Api" : operationsName(path, names);
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
const operationsName = (path: readonly string[], used: Set<string>) =>
  unusedName(`${path.map((segment) => segment.charAt(0).toUpperCase() + segment.slice(1)).join("")}Operations`, used);
