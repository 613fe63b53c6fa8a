/**
 * Where the procedures of an application are exported, so that `api.ts` takes the type of each from its own module. From
 * the backend's default export, the compiler would infer the types of all of them before it answers about one.
 * Next hop: `client-api.ts`.
 */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { readSource } from "../audit/source.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { isPlainName } from "../kit/written-names.ts";

/** An export, or a member of one: `["notesCrud", "list"]`. */
export interface Exported {
  /** The file, absolute. */
  file: string;
  path: readonly string[];
}

/** Of the files that `index.ts` imports by a relative path. @param index absolute */
export async function exportedProcedures(index: string): Promise<Map<ProcedureDefinition, Exported>> {
  const found = new Map<ProcedureDefinition, Exported>();
  for (const file of importedFiles(index)) {
    const exports: object = await import(pathToFileURL(file).href);
    for (const [path, value] of membersOf(exports, 3)) {
      const { procedure } = value["~svc"];
      if (!found.has(procedure)) found.set(procedure, { file, path });
    }
  }
  return found;
}

function importedFiles(index: string): string[] {
  return readSource(index).ast.body.flatMap((node) =>
    node.type === "ImportDeclaration" && /^\.\.?\/.*\.[mc]?[jt]s$/.test(String(node.source.value))
      ? [resolve(dirname(index), String(node.source.value))]
      : [],
  );
}

type Finished = { "~svc": { procedure: ProcedureDefinition } };

/** Single procedures, those of a resource, and those of a record of resources. */
function membersOf(record: object, levels: number): [string[], Finished][] {
  return Object.entries(record).flatMap(([key, value]: [string, unknown]): [string[], Finished][] => {
    if (!isPlainName(key) || !isRecord(value)) return [];
    if (isFinished(value)) return [[[key], value]];
    if (levels === 1) return [];
    return membersOf(value, levels - 1).map(([path, item]) => [[key, ...path], item]);
  });
}

/** Not a table, a builder or another instance of a class, whose members may be many. */
const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
const isFinished = (value: object): value is Finished =>
  "~svc" in value && typeof value["~svc"] === "object" && value["~svc"] !== null && "procedure" in value["~svc"];
