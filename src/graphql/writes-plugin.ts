/**
 * Writes: a field for each `create`, `update` and `remove` of `createCrud`. A field runs the procedure, with its
 * checks, hooks and SQL function, and then reads the row back as the caller.
 * Next hop: `engine.ts` gives `write`, which calls `invokeWithin` of `src/call/invoke.ts`.
 */
import type { PgCodecWithAttributes, PgResource } from "@dataplan/pg";
import { type FieldArgs, lambda, type Step, sideEffect } from "grafast";
import type { GraphQLFieldConfigArgumentMap, GraphQLInputType, GraphQLOutputType } from "grafast/graphql";
import { findColumn } from "../crud/crud-definition.ts";
import { type Exposed, type ExposedTable, tableOf } from "./exposed.ts";
import { inputOf, type Verb, verbs } from "./inputs.ts";
import { typeName } from "./names.ts";
import type { RootField } from "./plain-document.ts";
import { fromContext } from "./request-context.ts";

export function writesPlugin(exposed: Exposed): GraphileConfig.Plugin {
  return {
    name: "SvcWritesPlugin",
    version: "0.0.0",
    after: ["PgTablesPlugin"],
    schema: {
      hooks: {
        GraphQLObjectType_fields(fields, build, { scope, fieldWithHooks }) {
          if (!scope.isRootMutation) return fields;
          let all = fields;
          for (const resource of Object.values(build.pgResources)) {
            const table = tableOf(exposed, resource);
            if (!table || resource.parameters || !resource.codec.attributes) continue;
            for (const verb of verbs) {
              const shape = table.offers(verb) && shapeOf(build, resource as Table, table, verb);
              if (!shape) continue;
              const fieldName = build.inflection.camelCase(`${verb}-${typeName(build.inflection, table)}`);
              const field = fieldWithHooks({ fieldName }, () => ({
                ...shape,
                description: descriptions[verb],
                extensions: { svcRoot: { table, operation: verb } satisfies RootField },
                plan: plan(resource as Table, table, verb, shape.args) as never,
              }));
              all = build.extend(all, { [fieldName]: field }, `Adding ${fieldName}`);
            }
          }
          return all;
        },
      },
    },
  };
}

type Table = PgResource<string, PgCodecWithAttributes>;

const descriptions: Record<Verb, string> = {
  create: "Adds a row. Answers with it, or with null when the caller may not see it.",
  update: "Changes the columns that are given. Answers with the row, or with null when the caller no longer sees it.",
  remove: "Removes a row. Answers with its id.",
};

/** The type of a write field and its arguments; null when a needed type or argument is missing. */
function shapeOf(build: GraphileBuild.Build, resource: Table, table: ExposedTable, verb: Verb) {
  const { GraphQLNonNull } = build.graphql;
  const name = typeName(build.inflection, table);
  const idCodec = resource.codec.attributes[table.crud.id.name]?.codec;
  if (!idCodec) return null;
  const idInput = build.getGraphQLTypeByPgCodec(idCodec, "input") as GraphQLInputType | undefined;
  const idOutput = build.getGraphQLTypeByPgCodec(idCodec, "output") as GraphQLOutputType | undefined;
  const type = (verb === "remove" ? idOutput : build.getTypeByName(name)) as GraphQLOutputType | undefined;
  if (!idInput || !type) return null;

  const id = { type: new GraphQLNonNull(idInput) };
  const typed = (typeOf: string) => {
    const input = build.getTypeByName(typeOf) as GraphQLInputType | undefined;
    return input && { type: new GraphQLNonNull(input) };
  };
  const args: GraphQLFieldConfigArgumentMap = {};
  if (verb !== "create") args.id = id;
  const canWrite = [...table.columns.values()].some((column) => column.canWrite);
  if (verb === "create" && canWrite) {
    const input = typed(build.inflection.inputType(name));
    if (!input) return null;
    args.input = input;
  }
  if (verb === "update") {
    const patch = canWrite && typed(build.inflection.patchType(name));
    if (!patch) return null;
    args.patch = patch;
    if (findColumn(table.crud, "updatedAt")) {
      args.ifUnmodifiedSince = {
        type: build.graphql.GraphQLString,
        description: "Refuses with CONFLICT when the row was changed after this time, in ISO 8601.",
      };
    }
  }
  return { type, args };
}

/** @param args those of the field: not every table has all of them */
function plan(resource: Table, table: ExposedTable, verb: Verb, args: GraphQLFieldConfigArgumentMap) {
  const { crud } = table;
  const procedure = `${crud.prefix}.${verb}`;
  const names = inputs[verb].filter((name) => name in args);
  return (_$root: Step, fieldArgs: FieldArgs) => {
    const $args = [fromContext("write"), ...names.map((name) => fieldArgs.getRaw(name))] as const;
    const $id = sideEffect($args, ([write, ...given]) =>
      write(procedure, inputOf(table, verb, Object.fromEntries(names.map((name, index) => [name, given[index]])))),
    );
    if (verb === "remove") return lambda($id, (id) => id);
    return resource.get({ [crud.id.name]: $id } as never);
  };
}

const inputs: Record<Verb, readonly string[]> = {
  create: ["input"],
  update: ["id", "patch", "ifUnmodifiedSince"],
  remove: ["id"],
};
