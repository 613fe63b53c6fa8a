/** The plugins of PostGraphile that are used, less those that write to tables, call functions or look tables up by nodes. */
import { makePgService } from "@dataplan/pg/adaptors/pg";
import { defaultPreset as buildPreset } from "graphile-build";
import { defaultPreset as pgPreset } from "graphile-build-pg";
import type pg from "pg";
import type { Exposed } from "./exposed.ts";
import { tablesPlugin } from "./tables-plugin.ts";
import { writesPlugin } from "./writes-plugin.ts";

const unused = [
  // Writing goes through the generated procedures alone.
  "PgMutationCreatePlugin",
  "PgMutationUpdateDeletePlugin",
  "PgMutationPayloadEdgePlugin",
  "MutationPayloadQueryPlugin",
  "ClientMutationIdDescriptionPlugin",
  // Functions of the application are its own.
  "PgProceduresPlugin",
  "PgCustomTypeFieldPlugin",
  "PgConditionCustomFieldsPlugin",
  "PgOrderCustomFieldsPlugin",
  "PgJWTPlugin",
  // `id` is the column; there is no second way to a row.
  "NodePlugin",
  "NodeAccessorPlugin",
  "RegisterQueryNodePlugin",
  "AddNodeInterfaceToSuitableTypesPlugin",
  "NodeIdCodecBase64JSONPlugin",
  "NodeIdCodecPipeStringPlugin",
  "PgNodeIdAttributesPlugin",
  "PgTableNodePlugin",
  "SubscriptionPlugin",
  "BuiltinScalarConnectionsPlugin",
  // `createCrud` says what may be filtered and ordered, and in which order rows come.
  "PgIndexBehaviorsPlugin",
  "PgConnectionArgOrderByDefaultValuePlugin",
];

/** How long a document may take to plan, in milliseconds. One of 400 fields takes some hundred on a calm machine. */
const planningMs = 3000;

/** @param pool the one of requests; the catalog is read as the role of whoever is signed in, so that its grants hold */
export function preset(exposed: Exposed, pool: pg.Pool): GraphileConfig.Preset {
  const schemas = [...new Set([...exposed.values()].map(({ crud }) => crud.schema))];
  return {
    extends: [buildPreset, pgPreset],
    plugins: [tablesPlugin(exposed), writesPlugin(exposed)],
    disablePlugins: unused as never,
    pgServices: [
      makePgService({
        pool,
        schemas,
        pgSettingsForIntrospection: { role: "svc_authenticated" },
        pubsub: false,
      }),
    ],
    // Planning keeps the process busy; a document that took longer is refused for a minute.
    grafast: { explain: false, timeouts: { planning: planningMs } },
  };
}
