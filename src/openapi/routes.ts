/**
 * The application's own routes in the document. A handler decides its status and type, so only the schema of
 * `.output()` is documented.
 */
import type { RouteDefinition } from "../contract/http-route.ts";
import { type JsonSchema, takesNothing } from "../kit/json-schema.ts";
import { answers, json, operation, type Part, pathParameters, security } from "../kit/parts.ts";
import type { Schemas } from "../kit/schemas.ts";

export function routePaths(routes: readonly RouteDefinition[], schemas: Schemas): Record<string, Part> {
  const paths: Record<string, Part> = {};
  const ids = new Set<string>();
  for (const route of routes) {
    const path = pathOf(route);
    let id = `${route.verb}${path.replace(/[^A-Za-z0-9]+/g, "-")}`.replace(/-$/, "");
    while (ids.has(id)) id += "-";
    ids.add(id);
    // To OpenAPI, two routes that differ only in parameter names are one path; the first one answers first.
    const item = paths[sameShape(paths, path) ?? path] ?? {};
    item[route.verb] ??= described(route, id, schemas);
    paths[sameShape(paths, path) ?? path] = item;
  }
  return paths;
}

/** `/api/hello/:name` in OpenAPI's form. */
const pathOf = ({ path }: Pick<RouteDefinition, "path">) => path.replace(/:(\w+)/g, "{$1}");

const shape = (path: string) => path.replace(/\{\w+\}/g, "{}");
const sameShape = (paths: object, path: string) => Object.keys(paths).find((other) => shape(other) === shape(path));

const other = answers("An error, in the form of `Error`, or what the handler returns with another status.", json({}));

function described(route: RouteDefinition, operationId: string, schemas: Schemas): Part {
  const { verb, path, anonymous, input, output } = route;
  const taken = schemas.describe(operationId, input, "input");
  const readsQuery = verb === "get" || verb === "delete";
  const parameters = [...pathParameters(path), ...(readsQuery && taken ? queryParameters(taken) : [])];
  const body = { content: json(taken ?? {}), required: input !== undefined && !takesNothing(input) };
  const anything = { "text/plain": { schema: { type: "string" } }, "application/octet-stream": {} };
  return operation(operationId, "routes", `${verb.toUpperCase()} ${pathOf(route)}`, security(anonymous), {
    ...(parameters.length > 0 && { parameters }),
    ...(!readsQuery && input && { requestBody: body }),
    ...(!readsQuery && !input && { requestBody: { content: { ...body.content, "*/*": {} } } }),
    responses: {
      "2XX": answers(
        "What the handler returns.",
        output ? json(schemas.describe(operationId, output, "output") ?? {}) : { ...json({}), ...anything },
      ),
      "4XX": other,
      default: other,
    },
  });
}

/** The members of an object, each a text parameter of the query. */
function queryParameters(schema: JsonSchema): Part[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(Object(schema.properties)).map(([name, of]) => ({
    name,
    in: "query",
    required: required.has(name),
    schema: of,
  }));
}
