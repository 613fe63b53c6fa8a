/**
 * Finds generated CRUD that anybody may call: `createCrud(table, { allowAnonymous: true })`, under any name. Its hooks
 * are handlers like others.
 * Next hop: `reach.ts` for the hooks, `runtime-tables.ts` for the table.
 */
import { fromCore, type Handler } from "./builders.ts";
import { memberName, type Node, walk } from "./parse.ts";
import type { Place } from "./report.ts";
import { noArguments, type Resolver } from "./resolve.ts";
import type { SourceFile } from "./scopes.ts";

export interface AnonymousCrud {
  call: Place;
  table: Place;
  handler: Handler;
}

export function anonymousCrud(resolver: Resolver): AnonymousCrud[] {
  const found: AnonymousCrud[] = [];
  for (const file of resolver.modules.files.values()) {
    walk(file.ast, (node) => {
      if (node.type !== "CallExpression") return;
      const [table, options] = node.arguments as Node[];
      if (!table || !options || !isCreateCrud(resolver, node.callee as Node, file)) return;
      if (!mayBeAnonymous(resolver, options, file)) return;
      const prefix = property(options, "prefix");
      const hooks = { node: options, file, given: noArguments };
      found.push({
        call: { file, node },
        table: { file, node: table },
        handler: {
          kind: "crud",
          name: [
            `createCrud(${(prefix && resolver.constant(prefix, file)) ?? file.text.slice(table.start, table.end)})`,
          ],
          definition: { file, node },
          body: undefined,
          layers: [hooks],
          middleware: [],
        },
      });
    });
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

/** Everything but a plain `false`, or no such option in an object that can be read. */
function mayBeAnonymous(resolver: Resolver, options: Node, file: SourceFile): boolean {
  const values = resolver.origins(options, file, ["allowAnonymous"]);
  return values.some((origin) => {
    if (origin.kind === "global") return origin.name !== "undefined";
    return !(origin.kind === "node" && origin.node.type === "Literal" && origin.node.value === false);
  });
}

function property(options: Node, name: string): Node | undefined {
  if (options.type !== "ObjectExpression") return undefined;
  const found = options.properties.find((item) => item.type === "Property" && memberName(item) === name);
  return found?.type === "Property" ? found.value : undefined;
}
