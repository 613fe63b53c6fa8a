/**
 * The files of an application: those that its entry files import, directly or indirectly, without packages.
 * Next hop: `resolve.ts` asks here what an import or an export stands for.
 */
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { literalText, type Node, parseSource, SyntaxProblem, walk } from "./parse.ts";
import { type Binding, type SourceFile, withScopes } from "./scopes.ts";

/** The target of an import. */
export type Target =
  | { kind: "binding"; binding: Binding }
  /** `export default <expression>`. */
  | { kind: "expression"; node: Node; file: SourceFile }
  /** All exports of a file. */
  | { kind: "namespace"; file: SourceFile }
  /** An import from a package; `name` is `*` for the whole package. */
  | { kind: "package"; name: string; from: string }
  /** A relative import without a source file: JSON, or a missing file. */
  | { kind: "nothing" };

export interface Modules {
  files: ReadonlyMap<string, SourceFile>;
  /** Targets of relative imports, by folder and specifier. */
  sources: Map<string, string | undefined>;
  /** Resolved exports, by file and name. */
  exports: Map<string, Target>;
  /** Files that cannot be parsed. */
  broken: { path: string; problem: SyntaxProblem }[];
}

const extensions = ["", ".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.mts", "/index.js", "/index.mjs"];
const readable = /\.m?[jt]s$/;

/** @param entries absolute paths; those that do not exist are left out */
export async function readModules(entries: readonly string[]): Promise<Modules> {
  const files = new Map<string, SourceFile>();
  const broken: Modules["broken"] = [];
  const sources: Modules["sources"] = new Map();
  const seen = new Set<string>();

  const read = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    try {
      const file = withScopes(parseSource(path, await readFile(path, "utf8")));
      files.set(path, file);
      await Promise.all(specifiers(file).map((specifier) => read(sourceOf(sources, path, specifier) ?? path)));
    } catch (error) {
      if (!(error instanceof SyntaxProblem)) throw error;
      broken.push({ path, problem: error });
    }
  };
  await Promise.all(entries.filter((path) => existsSync(path)).map(read));
  return { files: new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1))), broken, sources, exports: new Map() };
}

/** The source file of a relative specifier, as Node or a bundler would find it. */
function sourceOf(sources: Modules["sources"], from: string, specifier: string): string | undefined {
  if (!isOwn(specifier)) return undefined;
  const key = `${dirname(from)} ${specifier}`;
  if (!sources.has(key)) sources.set(key, findSource(from, specifier));
  return sources.get(key);
}

function findSource(from: string, specifier: string): string | undefined {
  const path = specifier.startsWith("file:") ? new URL(specifier).pathname : resolve(dirname(from), specifier);
  // `./x.js` may name the file that `./x.ts` compiles to.
  const candidates = [...extensions.map((extension) => path + extension), path.replace(/\.(m?)js$/, ".$1ts")];
  return candidates.find((file) => readable.test(file) && existsSync(file) && statSync(file).isFile());
}

export const isOwn = (specifier: string): boolean => /^(\.{1,2}(\/|$)|\/|file:)/.test(specifier);

function specifiers(file: SourceFile): string[] {
  const found: string[] = [];
  for (const statement of file.ast.body as Node[]) {
    if (statement.type === "ImportDeclaration" || isExportFrom(statement)) found.push(String(statement.source?.value));
  }
  if (!/\bimport\s*\(/.test(file.text)) return found;
  walk(file.ast, (node) => {
    if (node.type === "ImportExpression") found.push(literalText(node.source) ?? "");
  });
  return found;
}

const isExportFrom = (node: Node): node is Extract<Node, { type: "ExportNamedDeclaration" | "ExportAllDeclaration" }> =>
  (node.type === "ExportNamedDeclaration" || node.type === "ExportAllDeclaration") && Boolean(node.source);

/** The target of an import specifier. */
function importTarget(modules: Modules, file: SourceFile, specifier: Node): Target {
  const declaration = file.parents.get(specifier);
  if (declaration?.type !== "ImportDeclaration") return { kind: "nothing" };
  const from = String(declaration.source.value);
  if (specifier.type === "ImportNamespaceSpecifier") return moduleTarget(modules, file, from);
  if (specifier.type === "ImportDefaultSpecifier") return exportFrom(modules, file, from, "default");
  if (specifier.type === "ImportSpecifier") return exportFrom(modules, file, from, nameOf(specifier.imported));
  return { kind: "nothing" };
}

/** A whole module: the target of `import * as` and of `import("…")`. */
export function moduleTarget(modules: Modules, file: SourceFile, from: string): Target {
  if (!isOwn(from)) return { kind: "package", name: "*", from };
  const other = modules.files.get(sourceOf(modules.sources, file.path, from) ?? "");
  return other ? { kind: "namespace", file: other } : { kind: "nothing" };
}

function exportFrom(modules: Modules, file: SourceFile, from: string, name: string, seen = new Set<string>()): Target {
  if (!isOwn(from)) return { kind: "package", name: name === "default" ? "*" : name, from };
  const other = modules.files.get(sourceOf(modules.sources, file.path, from) ?? "");
  return other ? exportTarget(modules, other, name, seen) : { kind: "nothing" };
}

/** The target of a file's export; re-exports are followed. */
export function exportTarget(modules: Modules, file: SourceFile, name: string, seen = new Set<string>()): Target {
  const key = `${file.path} ${name}`;
  const known = modules.exports.get(key);
  if (known) return known;
  if (seen.has(key)) return { kind: "nothing" };
  const first = seen.size === 0;
  seen.add(key);
  const target = findExport(modules, file, name, seen);
  // Inside a cycle a result may be partial, so only results of the first call are cached.
  if (first) modules.exports.set(key, target);
  return target;
}

function findExport(modules: Modules, file: SourceFile, name: string, seen: Set<string>): Target {
  for (const statement of file.ast.body) {
    if (statement.type === "ExportDefaultDeclaration" && name === "default") {
      const node = statement.declaration as Node;
      return { kind: "expression", node, file };
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    if (statement.source) {
      const found = statement.specifiers.find(({ exported }) => nameOf(exported) === name);
      if (found) return exportFrom(modules, file, String(statement.source.value), nameOf(found.local), seen);
    } else if (statement.declaration) {
      const binding = file.top.get(name);
      if (binding && inside(binding.declaration, statement as Node)) return { kind: "binding", binding };
    } else {
      const found = statement.specifiers.find(({ exported }) => nameOf(exported) === name);
      const binding = found && file.top.get(nameOf(found.local));
      if (binding) return bindingTarget(modules, binding);
    }
  }
  return starTarget(modules, file, name, seen);
}

function starTarget(modules: Modules, file: SourceFile, name: string, seen: Set<string>): Target {
  let outside: Target = { kind: "nothing" };
  for (const statement of file.ast.body) {
    if (statement.type !== "ExportAllDeclaration") continue;
    const from = String(statement.source.value);
    if (statement.exported) {
      if (nameOf(statement.exported) === name) return moduleTarget(modules, file, from);
      continue;
    }
    const found = exportFrom(modules, file, from, name, seen);
    // `export * from "package"` may have the name; the application's own export takes precedence.
    if (found.kind === "package") outside = found;
    else if (found.kind !== "nothing") return found;
  }
  return outside;
}

/** The binding itself, or what it imports. */
export function bindingTarget(modules: Modules, binding: Binding): Target {
  if (binding.kind !== "import") return { kind: "binding", binding };
  return importTarget(modules, binding.file, binding.declaration);
}

/** Every name that a file exports. */
export function exportNames(modules: Modules, file: SourceFile, seen = new Set<SourceFile>()): Set<string> {
  const names = new Set<string>();
  if (seen.has(file)) return names;
  seen.add(file);
  for (const statement of file.ast.body) {
    if (statement.type === "ExportDefaultDeclaration") names.add("default");
    if (statement.type === "ExportAllDeclaration") {
      if (statement.exported) names.add(nameOf(statement.exported));
      else {
        const all = moduleTarget(modules, file, String(statement.source.value));
        if (all.kind === "namespace") for (const name of exportNames(modules, all.file, seen)) names.add(name);
      }
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const { exported } of statement.specifiers) names.add(nameOf(exported));
    if (statement.declaration) {
      for (const [name, binding] of file.top) {
        if (inside(binding.declaration, statement as Node)) names.add(name);
      }
    }
  }
  return names;
}

const nameOf = (node: { type: string; name?: string; value?: unknown }): string => String(node.name ?? node.value);

export const inside = (inner: Node, outer: Node): boolean => inner.start >= outer.start && inner.end <= outer.end;

/** Files that hold an application's definitions, absolute. */
export const entryFiles = (rootDir: string, schemaFiles: readonly string[]): string[] => [
  join(rootDir, "index.ts"),
  join(rootDir, "auth.ts"),
  ...schemaFiles,
];
