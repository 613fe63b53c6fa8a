/**
 * Finds generated CRUD that anybody may call: `createCrud(table, { allowAnonymous: true })`, under any name. Its hooks
 * are handlers like others.
 * Next hop: `reach.ts` for the hooks, `runtime-tables.ts` for the table.
 */
import { fromCore, type Handler } from "./builders.ts";
import { noArguments } from "./origin.ts";
import type { Node } from "./parse.ts";
import type { Place } from "./report.ts";
import type { Resolver } from "./resolve.ts";
import type { SourceFile } from "./scopes.ts";
import { tableOf } from "./tables.ts";

export interface AnonymousCrud {
  call: Place;
  table: Place;
  handler: Handler;
}

export function anonymousCrud(resolver: Resolver): AnonymousCrud[] {
  const found: AnonymousCrud[] = [];
  for (const file of resolver.modules.files.values()) {
    for (const node of file.calls) {
      const [table, options] = node.arguments as Node[];
      if (!table || !options || !isCreateCrud(resolver, node.callee as Node, file)) continue;
      if (!mayBeAnonymous(resolver, options, file)) continue;
      const hooks = { node: options, file, given: noArguments };
      found.push({
        call: { file, node },
        table: { file, node: table },
        handler: {
          kind: "crud",
          name: ["createCrud(", ...prefixOf(resolver, table, options, file), ")"],
          definition: { file, node },
          body: undefined,
          layers: [hooks],
          middleware: [],
        },
      });
    }
  }
  return found;
}

function isCreateCrud(resolver: Resolver, callee: Node, file: SourceFile): boolean {
  return resolver
    .origins(callee, file)
    .some(
      (origin) =>
        origin.kind === "node" &&
        origin.node.type === "CallExpression" &&
        fromCore(resolver, origin.node.callee as Node, origin.file) === "createCrudFactory",
    );
}

/** True unless the option is a literal `false`, or absent from a readable object. */
function mayBeAnonymous(resolver: Resolver, options: Node, file: SourceFile): boolean {
  const values = resolver.origins(options, file, ["allowAnonymous"]);
  return values.some((origin) => {
    if (origin.kind === "global") return origin.name !== "undefined";
    return !(origin.kind === "node" && origin.node.type === "Literal" && origin.node.value === false);
  });
}

/** The prefix of the five names, as far as readable: the option, or the table's name. */
function prefixOf(resolver: Resolver, table: Node, options: Node, file: SourceFile): (string | null)[] {
  const [given, ...others] = resolver.origins(options, file, ["prefix"]);
  if (given) return given.kind === "node" && others.length === 0 ? resolver.text(given.node, given.file) : [null];
  const names = resolver.origins(table, file).map((origin) => tableOf(resolver, origin)?.name);
  return [names.length === 1 ? (names[0] ?? null) : null];
}
