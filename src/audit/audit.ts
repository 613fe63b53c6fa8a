/**
 * Checks anonymous handlers (spec, "Access rules for handlers", rules 2 and 3) when an application is loaded, each in
 * its own file, without running it:
 *
 * 1. `definitions.ts` finds the registered handlers that anybody may call in the source.
 * 2. `reach.ts` collects the code of the file that a handler mentions; `uses.ts` checks it.
 * 3. `allow.ts` reads comments that allow a use; `tables.ts` checks the schema and migrations and allows no exception.
 *
 * A use that the file does not show, such as that of another file, is refused when it is called: `gate.ts`. Next hop: `report.ts` makes one message of the
 * findings.
 */
import { join, relative } from "node:path";
import type { DefinedAt } from "../contract/defined-at.ts";
import type { LoadedApp } from "../contract/loaded-app.ts";
import { allowAbove } from "./allow.ts";
import { definitionOf } from "./definitions.ts";
import { Reach } from "./reach.ts";
import { excerpt, type Finding, findingAt, refuse, remedies, sorted } from "./report.ts";
import { runtimeTablesIn, runtimeTablesInMigrations } from "./tables.ts";
import { Values } from "./values.ts";

export type { Finding } from "./report.ts";

export interface AuditOptions {
  /** The application's folder: tests in allow comments, and files in findings, are relative to it. */
  root: string;
  /** Folder of the backend code, absolute. */
  rootDir: string;
  /** Schema files, absolute. */
  schemaFiles: readonly string[];
  app: Pick<LoadedApp, "api" | "schema">;
}

/** @returns findings sorted by place; empty when there are none */
export async function auditApplication({ root, rootDir, schemaFiles, app }: AuditOptions): Promise<Finding[]> {
  const { procedures, routes } = app.api["~svc"];
  const index = join(rootDir, "index.ts");
  const handlers = new Set([...procedures.values(), ...routes].flatMap(({ definedAt }) => definedAt ?? []));
  return sorted([
    ...[...handlers].flatMap((handler) => auditHandler(handler, root, index)),
    ...runtimeTablesIn(app, { root, schemaFiles, index }),
    ...(await runtimeTablesInMigrations(root)),
  ]);
}

/**
 * Refuses an application with anonymous handlers that do something without permission.
 *
 * @throws DefinitionError with every finding: place, handler, text and remedy
 */
export async function refuseUnaudited(options: AuditOptions): Promise<void> {
  refuse(await auditApplication(options));
}

function auditHandler(definedAt: DefinedAt, root: string, index: string): Finding[] {
  const { handler, sites, given } = definitionOf(definedAt);
  const [own] = sites;
  if (!own) {
    const what =
      "cannot be audited: it is registered, anybody may call it, and its definition is not found in the source.";
    const remedy = "Write .allowAnonymous() and .handler(…) in one of the application's own files.";
    return [{ file: relative(root, index), line: 1, column: 1, handler, what, remedy }];
  }
  const allows = sites.flatMap((site) => allowAbove(root, site) ?? []);
  const allowed = allows.some(({ missing }) => missing.length === 0);
  const reach = new Reach(new Values(given), root, own.node);
  reach.code(own, { allowed, lacks: allows.flatMap(({ missing }) => missing) });
  return [...describe(reach, handler, root)];
}

function* describe({ uses, texts, sql }: Reach, handler: string, root: string): Iterable<Finding> {
  for (const { use, lacks, ...place } of uses) {
    const incomplete = lacks.length > 0 ? ` Its svc-allow comment lacks ${lacks.join(", ")}.` : "";
    const what = `${use.opaque ? "cannot be audited: it uses" : "uses"} ${use.what}: \`${excerpt(place)}\`.${incomplete}`;
    yield findingAt(root, place, { handler, what, remedy: use.opaque ? remedies.opaque : remedies.use });
  }
  for (const place of sql ? texts : []) {
    const what = `names a runtime table in SQL: \`${excerpt(place)}\`.`;
    yield findingAt(root, place, { handler, what, remedy: remedies.table });
  }
}
