/**
 * The history of a row: a field for each resource with `history: true`. It runs `<prefix>.history`, with its check and
 * its SQL function, in the request's transaction.
 * Next hop: `engine.ts` gives `read`; `src/crud/crud-history.ts`.
 */
import { access, type FieldArgs, lambda, type Step } from "grafast";
import type { GraphQLInputType, GraphQLOutputType } from "grafast/graphql";
import { type Exposed, type ExposedTable, tableOf } from "./exposed.ts";
import { historyTypes, rowName } from "./names.ts";
import { fromContext } from "./request-context.ts";

export function historyPlugin(exposed: Exposed): GraphileConfig.Plugin {
  return {
    name: "SvcHistoryPlugin",
    version: "0.0.0",
    after: ["PgTablesPlugin", "PgAllRowsPlugin", "PgRowByUniquePlugin"],
    schema: {
      hooks: {
        init(_, build) {
          registerTypes(build);
          return _;
        },
        GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
          if (!scope.isRootQuery) return fields;
          let all = fields;
          for (const resource of Object.values(build.pgResources)) {
            const table = tableOf(exposed, resource);
            if (!table?.offers("history") || resource.parameters) continue;
            const idCodec = resource.codec.attributes?.[table.crud.id.name]?.codec;
            const idType = idCodec && (build.getGraphQLTypeByPgCodec(idCodec, "input") as GraphQLInputType | undefined);
            if (!idType) continue;
            const name = rowName(build.inflection, table);
            // A table may have the name.
            const fieldName = `${name}History` in all ? `${name}RowHistory` : `${name}History`;
            const { GraphQLInt, GraphQLNonNull, GraphQLString } = build.graphql;
            const field = fieldWithHooks({ fieldName }, () => ({
              type: build.getOutputTypeByName(historyTypes.page),
              args: {
                id: { type: new GraphQLNonNull(idType) },
                first: { type: GraphQLInt, description: "As of the list." },
                after: { type: GraphQLString, description: "nextCursor of the page before." },
              },
              description: "What changed in a row, newest first; null for a row that the caller does not see.",
              extensions: { svcPage: { byDefault: table.crud.defaultLimit, most: table.crud.maxLimit } },
              plan: plan(table) as never,
            }));
            all = build.extend(all, { [fieldName]: field }, `Adding ${fieldName}`);
          }
          return all;
        },
      },
    },
  };
}

function registerTypes(build: GraphileBuild.Build): void {
  const { GraphQLList, GraphQLNonNull, GraphQLString } = build.graphql;
  const some = (type: GraphQLOutputType) => ({ type: new GraphQLNonNull(type) });
  build.registerObjectType(
    historyTypes.page,
    {},
    () => ({
      description: "What changed in a row.",
      fields: () => ({
        nodes: {
          ...some(new GraphQLList(new GraphQLNonNull(build.getOutputTypeByName(historyTypes.entry)))),
          plan: ($page: Step) => access($page, "data"),
        },
        nextCursor: { type: GraphQLString, description: "null on the last page." },
      }),
    }),
    "SvcHistoryPlugin",
  );
  build.registerObjectType(
    historyTypes.entry,
    {},
    () => ({
      description: "One change of a row.",
      fields: () => ({
        id: some(GraphQLString),
        at: { ...some(GraphQLString), description: "In ISO 8601." },
        actor: { type: GraphQLString, description: "The id of the user; null: the system or an administrator." },
        operation: { ...some(GraphQLString), description: "insert, update or delete." },
        changed: {
          ...some(build.getOutputTypeByName(build.inflection.builtin("JSON"))),
          description: "By column [before, after], as get of a call by name has them; null: not kept.",
        },
      }),
    }),
    "SvcHistoryPlugin",
  );
}

const plan =
  ({ crud }: ExposedTable) =>
  (_$root: Step, fieldArgs: FieldArgs) => {
    const $args = [fieldArgs.getRaw("id"), fieldArgs.getRaw("first"), fieldArgs.getRaw("after")] as const;
    return lambda([fromContext("read"), ...$args] as const, ([read, id, limit, cursor]) =>
      read(`${crud.prefix}.history`, { id, limit, cursor }),
    );
  };
