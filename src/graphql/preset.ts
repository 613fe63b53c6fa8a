/** The PostGraphile plugins in use, without those that write to tables, call functions or look rows up by node ids. */
import { makePgService } from "@dataplan/pg/adaptors/pg";
import { defaultPreset as buildPreset } from "graphile-build";
import { defaultPreset as pgPreset } from "graphile-build-pg";
import type pg from "pg";
import { correctCodecs } from "./codecs.ts";
import type { Exposed } from "./exposed.ts";
import { historyPlugin } from "./history-plugin.ts";
import { tablesPlugin } from "./tables-plugin.ts";
import { writesPlugin } from "./writes-plugin.ts";

const unused = [
  // Writes go only through the generated procedures.
  "PgMutationCreatePlugin",
  "PgMutationUpdateDeletePlugin",
  "PgMutationPayloadEdgePlugin",
  "MutationPayloadQueryPlugin",
  "ClientMutationIdDescriptionPlugin",
  // The application's functions are not exposed.
  "PgProceduresPlugin",
  "PgCustomTypeFieldPlugin",
  "PgConditionCustomFieldsPlugin",
  "PgOrderCustomFieldsPlugin",
  "PgJWTPlugin",
  // `id` is the column; rows have no second identifier.
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
  // `createCrud` defines filters, sort columns and the default order.
  "PgIndexBehaviorsPlugin",
  "PgConnectionArgOrderByDefaultValuePlugin",
];

/** Maximum planning time of a document, in milliseconds. One of 400 fields takes a few hundred on an idle machine. */
const planningMs = 3000;

/** @param pool with the login of requests; the catalog is read as the role of signed-in users, so that its grants apply */
export function preset(exposed: Exposed, pool: pg.Pool): GraphileConfig.Preset {
  correctCodecs();
  const schemas = [...new Set([...exposed.values()].map(({ crud }) => crud.schema))];
  return {
    extends: [buildPreset, pgPreset],
    plugins: [tablesPlugin(exposed), writesPlugin(exposed), historyPlugin(exposed)],
    disablePlugins: unused as never,
    pgServices: [
      makePgService({ pool, schemas, pgSettingsForIntrospection: { role: "svc_authenticated" }, pubsub: false }),
    ],
    // Planning blocks the process; a document that exceeds the limit is refused for a minute.
    grafast: { explain: false, timeouts: { planning: planningMs } },
  };
}
