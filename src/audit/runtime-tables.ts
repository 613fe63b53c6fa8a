/**
 * Keeps runtime tables out of applications: names with the prefix `_system_` or `_gencow_`, and the schemas of the
 * platform and its job queue, are not allowed in the schema or a migration. No comment allows them.
 */
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Node, placeOf } from "./parse.ts";
import { type Finding, findingAt, type Place } from "./report.ts";
import type { Resolver } from "./resolve.ts";
import { isRuntimeName, isRuntimeSchema, isRuntimeTable, tableOf } from "./tables.ts";

const remedy = "Leave it out: the platform makes and changes it. Reach what it holds through the context.";

export const modelled = (name: string): Pick<Finding, "what" | "remedy"> => ({
  what: `the runtime table "${name}" is modelled by the application.`,
  remedy,
});

/** Finds runtime tables in the source, and `pgSchema` of a schema that is not the application's. */
export function runtimeTablesInSource(resolver: Resolver, root: string): Finding[] {
  const found: Finding[] = [];
  for (const file of resolver.modules.files.values()) {
    if (!file.text.includes("drizzle-orm") && !file.text.includes("_system_") && !file.text.includes("_gencow_"))
      continue;
    for (const node of file.calls) {
      if (node.type !== "CallExpression") continue;
      const place: Place = { file, node };
      const table = tableOf(resolver, { kind: "node", node, file, path: [] });
      if (table?.name !== undefined && isRuntimeTable(table)) {
        found.push(findingAt(root, place, modelled(table.name)));
        continue;
      }
      const schema = runtimeSchema(resolver, node, place);
      if (schema)
        found.push(
          findingAt(root, place, { what: `the platform's schema "${schema}" is modelled by the application.`, remedy }),
        );
    }
  }
  return found;
}

function runtimeSchema(resolver: Resolver, node: Extract<Node, { type: "CallExpression" }>, { file }: Place) {
  const [argument] = node.arguments;
  const made = resolver.origins(node.callee as Node, file);
  if (!argument || !made.some((origin) => origin.kind === "package" && origin.name === "pgSchema")) return undefined;
  const name = resolver.constant(argument, file);
  return name !== undefined && isRuntimeSchema(name) ? name : undefined;
}

const word = `(?:"(?:[^"]|"")+"|[\\w$]+)`;
const create = new RegExp(
  `\\b(?:create\\s+(?:(?:global\\s+|local\\s+)?temp(?:orary)?\\s+|unlogged\\s+|foreign\\s+)?table|alter\\s+table)\\s+(?:if\\s+(?:not\\s+)?exists\\s+)?(?:only\\s+)?(${word})(?:\\s*\\.\\s*(${word}))?`,
  "gi",
);

/** `create table` and `alter table` in the application's migrations. */
export async function runtimeTablesInMigrations(root: string): Promise<Finding[]> {
  const folder = join(root, "migrations");
  const names = (await readdir(folder).catch(() => [] as string[])).filter((name) => name.endsWith(".sql"));
  const found = await Promise.all(
    names
      .toSorted()
      .map(async (name) => inMigration(relative(root, join(folder, name)), await readFile(join(folder, name), "utf8"))),
  );
  return found.flat();
}

function inMigration(file: string, text: string): Finding[] {
  // Comments become blanks, so positions stay the same.
  const sql = text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, " "));
  return [...sql.matchAll(create)].flatMap((match) => {
    const [first = "", second] = [match[1] ?? "", match[2]].map((part) => part?.replaceAll('"', ""));
    const runtime = second === undefined ? isRuntimeName(first) : isRuntimeName(second) || isRuntimeSchema(first);
    if (!runtime) return [];
    const name = second === undefined ? first : `${first}.${second}`;
    return [{ file, ...placeOf(sql, match.index), ...modelled(name) }];
  });
}
