/**
 * Generates the client's `api.ts`: the procedures' names at run time, and their types by a type-only import of the
 * backend, which adds nothing to a bundle.
 * Next hop: `resources.ts` for generated CRUD; `client/sdk/src/operation.ts` for the functions that the file calls.
 */
import { dirname } from "node:path";
import type { Api } from "../contract/api.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { unusedName } from "../kit/written-names.ts";
import { dbModuleOf } from "./db-module.ts";
import type { Exported } from "./exported.ts";
import { Modules } from "./modules.ts";
import { Resources } from "./resources.ts";

/** An operation: its expression, and its type. */
type Operation = readonly [value: string, type: string];

/** By segment of the name. */
interface Folder {
  [segment: string]: Folder | Operation;
}

/** Without inherited members: a procedure may be named toString. */
const emptyFolder = (): Folder => Object.create(null);

/**
 * @param folder   of the generated file, absolute
 * @param index    the backend's index.ts, absolute
 * @param exported where procedures are exported; the type of another is read from the backend's default export
 * @throws DefinitionError when a procedure's name is also the prefix of another's
 */
export function clientApi(
  api: Api,
  folder: string,
  index: string,
  exported: ReadonlyMap<ProcedureDefinition, Exported> = new Map(),
): string {
  const { procedures, crud, paths, channels } = api["~svc"];
  const root = emptyFolder();
  const imported = new Set<string>();
  const modules = new Modules(folder);
  const typeOf = (name: string) => {
    const definition = procedures.get(name);
    const place = definition && exported.get(definition);
    if (place) return modules.typeOf(place);
    const path = paths.get(name)?.map((key) => `[${JSON.stringify(key)}]`);
    return path && `Procedures${path.join("")}`;
  };
  const resources = new Resources(crud, typeOf);
  for (const { name, kind } of procedures.values()) {
    if (kind === "internal") continue;
    const [type, resource] = operationType(resources, name, kind);
    imported.add(kind).add(`type ${type}`);
    const args = listOf(JSON.stringify(name), resources.columnsOf(name));
    const types = listOf(typeOf(name) ?? builtIn(name) ?? "Untyped", resource);
    place(root, name, [`${kind}(${args})`, `${type}<${types}>`]);
  }
  for (const name of channels.keys()) {
    imported.add("channel").add("type ChannelOf");
    place(root, name, [
      `channel(${JSON.stringify(name)})`,
      `ChannelOf<Channels[${JSON.stringify(paths.get(name)?.[0])}]>`,
    ]);
  }
  const constants = resources.constants();
  const interfacesOfResources = resources.interfaces();
  const ofResources = [...constants, ...interfacesOfResources].join("\n");
  for (const type of ["Conversions", "FiltersOf", "Many", "One", "RowIn"])
    if (new RegExp(`\\b${type}\\b`).test(ofResources)) imported.add(`type ${type}`);
  const interfacesOfGroups = interfaces(root);
  const types = [...interfacesOfResources, ...interfacesOfGroups].join("\n");
  const others: [file: string, clause: string][] = [];
  if (/(Procedures|Channels)\[/.test(types)) others.push([index, "backend"]);
  if (types.includes("Workflows[")) others.push([dbModuleOf(dirname(index)), "{ WorkflowProcedures as Workflows }"]);
  return [
    "// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.",
    imported.size > 0 ? importOf([...imported]) : "",
    ...modules.imports(others),
    ...aliases.filter(([use]) => types.includes(use)).map(([, alias]) => alias),
    ...[...constants, ...interfacesOfResources].map((one) => `\n${one}`),
    ...(types.includes("<Untyped>") ? [untyped] : []),
    "",
    "// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.",
    ...interfacesOfGroups,
    "",
    `export const api: Api = ${print(root, "")} as never;`,
    "",
  ].join("\n");
}

/** Types of the backend, by the text of the interfaces that use them. */
const aliases: readonly [use: string, alias: string][] = [
  ["Procedures[", '\ntype Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;'],
  ["Channels[", '\ntype Channels = NonNullable<(typeof backend)["~svc"]["channelTypes"]>;'],
];

/** The legacy crud bag is not in the backend's type, so its operations are callable but untyped. */
const untyped = 'type Untyped = { "~svc": { types?: { input: unknown; output: unknown } } };';

/** The SDK's type of an operation, and the interface of the resource that is its second parameter. */
function operationType(resources: Resources, name: string, kind: "query" | "mutation"): [string, string?] {
  const read = resources.readBy(name);
  if (read) return ["ResourceQueryOf", read];
  const measured = resources.measuredBy(name);
  if (measured) return ["AggregateQueryOf", measured];
  return [kind === "query" ? "QueryOf" : "MutationOf"];
}

const listOf = (first: string, second: string | undefined) => (second ? `${first}, ${second}` : first);

/** The type of a procedure of the platform. From the backend's default export, it would need the types of all procedures. */
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

function place(root: Folder, name: string, operation: Operation): void {
  const segments = name.split(".");
  const leaf = segments.pop() as string;
  let folder = root;
  for (const [index, segment] of segments.entries()) {
    folder[segment] ??= emptyFolder();
    const next = folder[segment];
    if (isOperation(next)) throw collision(segments.slice(0, index + 1).join("."), name);
    folder = next;
  }
  const there = folder[leaf];
  if (there) throw isOperation(there) ? collision(name, name) : collision(name, `${name}.${firstIn(there)}`);
  folder[leaf] = operation;
}

function firstIn(folder: Folder): string {
  const [[segment, item] = ["", emptyFolder()]] = Object.entries(folder);
  return isOperation(item) ? segment : `${segment}.${firstIn(item)}`;
}

const collision = (name: string, longer: string) =>
  new DefinitionError(`The name "${name}" is also the beginning of "${longer}".`, {
    hint: "In `api` a name is an operation, a channel, or a group of them. Give one of the two another name.",
  });

function print(folder: Folder, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(folder).map(([segment, item]) => {
    const line = `${inner}${segment}: ${isOperation(item) ? item[0] : print(item, inner)},`;
    return isOperation(item) && line.length > width ? broken(line, inner) : line;
  });
  return lines.length > 0 ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
}

/** As formatters break a call, or a type with parameters, that is too long for a line. */
function broken(line: string, indent: string): string {
  const [, head, args = "", end] = /^(.*?[(<])(.*)([)>][,;])$/.exec(line) ?? [];
  const comma = end === ">;" ? "" : ",";
  return `${head}\n${args
    .split(", ")
    .map((arg) => `${indent}  ${arg}`)
    .join(",\n")}${comma}\n${indent}${end}`;
}

/** One interface per group, inner groups first. */
function interfaces(root: Folder): string[] {
  const lines: string[] = [];
  const names = new Set<string>();
  const declare = (folder: Folder, path: string[]): string => {
    const members = Object.entries(folder).map(([segment, item]) => {
      const line = `  readonly ${segment}: ${isOperation(item) ? item[1] : declare(item, [...path, segment])};`;
      return line.length > width ? broken(line, "  ") : line;
    });
    const name = path.length === 0 ? "Api" : operationsName(path, names);
    lines.push(`${path.length === 0 ? "export " : ""}interface ${name} {${members.length > 0 ? "" : "}"}`);
    if (members.length > 0) lines.push(...members, "}");
    return name;
  };
  declare(root, []);
  return lines;
}

const isOperation = (item: Folder | Operation): item is Operation => Array.isArray(item);

/** ["books", "loans"] and ["booksLoans"] both give BooksLoansOperations; the second one gets a number. */
const operationsName = (path: readonly string[], used: Set<string>) =>
  unusedName(`${path.map((segment) => segment.charAt(0).toUpperCase() + segment.slice(1)).join("")}Operations`, used);
