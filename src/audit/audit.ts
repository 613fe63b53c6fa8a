/**
 * Audits anonymous handlers (spec, "Access rules for handlers", rules 2 and 3) in the source, without running it:
 *
 * 1. `parse.ts`, `scopes.ts`, `modules.ts` read the application's files and resolve their names.
 * 2. `builders.ts` and `crud.ts` find the handlers that anybody may call; a registered one that is not found is
 * refused.
 * 3. `reach.ts` collects all code that a handler mentions; `uses.ts` checks it, `context-flow.ts` follows the context.
 * 4. `allow.ts` reads comments that allow a use; `runtime-tables.ts` checks all code and allows no exception.
 *
 * Code that cannot be followed is reported. Next hop: `report.ts` makes one message of the findings.
 */
import { join, relative } from "node:path";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { allowAbove } from "./allow.ts";
import { anonymousHandlers, type Handler } from "./builders.ts";
import { ContextFlow } from "./context-flow.ts";
import { type AnonymousCrud, anonymousCrud } from "./crud.ts";
import { entryFiles, readModules } from "./modules.ts";
import { Reach, type Reached } from "./reach.ts";
import { registeredIn } from "./registered.ts";
import { excerpt, type Finding, findingAt, refuse, sorted } from "./report.ts";
import { Resolver } from "./resolve.ts";
import { modelled, runtimeTablesInMigrations, runtimeTablesInSource } from "./runtime-tables.ts";
import { isRuntimeTable, tableOf } from "./tables.ts";

export type { Finding } from "./report.ts";

export interface AuditOptions {
  /** The application's folder: tests in allow comments, and files in findings, are relative to it. */
  root: string;
  /** Folder of the backend code, absolute. */
  rootDir: string;
  /** Schema files, absolute. */
  schemaFiles: readonly string[];
  /** The loaded application: everything registered must be found in the source. (Default: not checked) */
  app?: Pick<LoadedApp, "api" | "schema">;
}

const remedies = {
  use: "Take .allowAnonymous() away, use ctx.db with the query builder, or write above the definition or the call: /* svc-allow: reason: …; scope: …; owner: …; test: path/to/test */",
  opaque:
    "Write it so that it can be read: plain names, functions and imports of your own files. Or take .allowAnonymous() away, or allow it by a svc-allow comment.",
  table: "Take .allowAnonymous() away, or leave the table out; no comment allows this.",
};

/** @returns findings sorted by place; empty when there are none */
export async function auditApplication(options: AuditOptions): Promise<Finding[]> {
  const { root, rootDir, schemaFiles } = options;
  const modules = await readModules(entryFiles(rootDir, schemaFiles));
  const broken = modules.broken.map(({ path, problem }) => ({
    file: relative(root, path),
    line: problem.line,
    column: problem.column,
    what: `the file cannot be read: ${problem.message}.`,
    remedy: "Correct the syntax.",
  }));
  if (broken.length > 0) return sorted(broken);

  const resolver = new Resolver(modules);
  const handlers = anonymousHandlers(resolver);
  const crud = anonymousCrud(resolver);
  const everything = [...handlers, ...crud.map(({ handler }) => handler)];
  const found = [
    ...everything.flatMap((handler) => auditHandler(resolver, handler, root)),
    ...crud.flatMap((one) => auditTable(resolver, one, root)),
    ...runtimeTablesInSource(resolver, root),
    ...(await runtimeTablesInMigrations(root)),
  ];
  return sorted([...found, ...notFound(options, everything, found)]);
}

/**
 * Refuses an application with anonymous handlers that do something without permission.
 *
 * @throws DefinitionError with every finding: place, handler, text and remedy
 */
export async function refuseUnaudited(options: AuditOptions): Promise<void> {
  refuse(await auditApplication(options));
}

function auditTable(resolver: Resolver, { call, table, handler }: AnonymousCrud, root: string): Finding[] {
  return resolver.origins(table.node, table.file).flatMap((origin) => {
    const name = tableOf(resolver, origin);
    if (!name || !isRuntimeTable(name)) return [];
    const what = `gives everybody the runtime table "${name.name}".`;
    return [findingAt(root, call, { handler: nameOf(handler), what, remedy: remedies.table })];
  });
}

function auditHandler(resolver: Resolver, handler: Handler, root: string): Finding[] {
  const name = nameOf(handler);
  const { definition, body, layers, middleware } = handler;
  const allow = allowAbove(root, definition);
  const step = { allowed: allow?.missing.length === 0, lacks: allow?.missing ?? [] };
  const reach = new Reach(resolver, root);
  for (const code of body ? [...layers, body] : layers) reach.code(code, step);

  const found = [...describe(reach.found, name, root)];
  if (step.allowed) return found;
  const opaque = (place: Parameters<typeof findingAt>[1], what: string) =>
    findingAt(root, place, {
      handler: name,
      what: `cannot be audited: it ${what}: \`${excerpt(place)}\`.`,
      remedy: remedies.opaque,
    });

  const entries = body ? [...middleware, body] : middleware;
  for (const code of entries) {
    if (resolver.functions(code.node, code.file, code.given).length > 0) continue;
    if (allowAbove(root, code)?.missing.length !== 0) found.push(opaque(code, "is no function that can be found"));
  }
  for (const leak of new ContextFlow(resolver).leaks(entries, reach.found.regions)) {
    if (allowAbove(root, leak)?.missing.length !== 0) found.push(opaque(leak, leak.what));
  }
  return found;
}

function* describe({ uses, tables, texts, sql }: Reached, handler: string, root: string): Iterable<Finding> {
  for (const { use, lacks, ...place } of uses) {
    const incomplete = lacks.length > 0 ? ` Its svc-allow comment lacks ${lacks.join(", ")}.` : "";
    const what = `${use.opaque ? "cannot be audited: it uses" : "uses"} ${use.what}: \`${excerpt(place)}\`.${incomplete}`;
    yield findingAt(root, place, { handler, what, remedy: use.opaque ? remedies.opaque : remedies.use });
  }
  for (const { name, ...place } of tables) {
    yield findingAt(root, place, {
      handler,
      what: `gives everybody the runtime table "${name}".`,
      remedy: remedies.table,
    });
  }
  for (const place of sql ? texts : []) {
    const what = `names a runtime table in SQL: \`${excerpt(place)}\`.`;
    yield findingAt(root, place, { handler, what, remedy: remedies.table });
  }
}

/** Registered handlers and tables without a definition in the source. */
function notFound(
  { app, root, rootDir }: AuditOptions,
  handlers: readonly Handler[],
  seen: readonly Finding[],
): Finding[] {
  if (!app) return [];
  const { handlers: names, tables } = registeredIn(app);
  const known = handlers.map(({ name }) => {
    const text = name.map((part) => (part === null ? ".*" : part.replaceAll(/\W/g, "\\$&")));
    return new RegExp(`^${text.join("")}$`, "s");
  });
  const place = { file: relative(root, join(rootDir, "index.ts")), line: 1, column: 1 };
  const unknown = names.filter((name) => !known.some((pattern) => pattern.test(name)));
  const runtime = tables.filter(
    (table) => isRuntimeTable(table) && !seen.some(({ what }) => what.includes(`"${table.name}"`)),
  );
  return [
    ...unknown.map((handler) => ({
      ...place,
      handler,
      what: "cannot be audited: it is registered, anybody may call it, and its definition is not found in the source.",
      remedy:
        "Write .allowAnonymous() and .handler(…) in one of the application's own files, imported by a plain path.",
    })),
    ...runtime.map(({ name }) => ({ ...place, ...modelled(name ?? "") })),
  ];
}

const nameOf = ({ name }: Handler): string => name.map((part) => part ?? "…").join("");
