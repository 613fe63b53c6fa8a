/**
 * The application's schema as comparable data: drizzle-kit's snapshot, plus generated owner indexes, grants, additional user
 * fields and tables of better-auth's plugins. `svc migrate generate` stores one per migration in `migrations/meta/`.
 * Next hop: `schema-migration.ts` compares two of them.
 */
import { is } from "drizzle-orm";
import { PgRole, PgTable } from "drizzle-orm/pg-core";
import { nameOfTable } from "../../crud/followed-tables.ts";
import { meaningOf } from "../../crud/rls.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { requirePackages } from "../../kit/optional-packages.ts";
import { tableConfig } from "../../kit/table-config.ts";
import { isCoreKey, libraryPrivileges, pluginTables } from "./schema-auth.ts";
import { correctDefaults } from "./schema-defaults.ts";
import { tableGrants, viewGrants } from "./schema-grants.ts";
import { numberByIdentity } from "./schema-identities.ts";
import { addOwnerIndex } from "./schema-owner-index.ts";
import { closeToKeys } from "./schema-scopes.ts";
import { refuseTwins } from "./schema-twins.ts";
import { userFields } from "./schema-user-fields.ts";
import type { Declared, Snapshot, Table } from "./snapshot.ts";

/** Schemas whose tables the platform's migrations create. An application may import them for foreign keys. */
export const platformSchemas = [
  "auth",
  "svc",
  "svc_hidden",
  "svc_private",
  "svc_crud",
  "extensions",
  "graphile_worker",
];

/**
 * Takes a snapshot of the declared schema.
 *
 * @param previous the previous snapshot; its id becomes `prevId`
 * @throws DefinitionError for a schema that an application's migration cannot create
 */
export async function takeSnapshot({ schema, auth }: Declared, previous: Snapshot | null): Promise<Snapshot> {
  for (const [name, value] of Object.entries(schema)) if (is(value, PgRole)) refuseOwnRole(name, value);
  const ofPlugins = pluginTables(auth);
  const declared = Object.values(schema).filter((value) => !isPlatform(value));
  refuseTwins(declared);
  const own = [...declared, ...ofPlugins];

  requirePackages("dev");
  const kit = await import("@svc/dev");
  // Keyed by index, because two files may export the same name.
  const taken = kit.generateDrizzleJson(Object.fromEntries(own.entries()), previous?.id) as Snapshot;
  const snapshot: Snapshot = { ...taken, svc: { grants: {}, userFields: userFields(auth) } };
  refuseLinked(snapshot);
  for (const name of platformSchemas) delete snapshot.schemas[name];
  for (const [key, view] of Object.entries(snapshot.views)) if (view.isExisting) delete snapshot.views[key];

  for (const value of own) {
    if (!is(value, PgTable)) continue;
    const key = nameOfTable(value);
    const table = snapshot.tables[key];
    if (!table) continue;
    complete(table, value);
    if (isCoreKey(key)) continue; // the platform grants its privileges
    const isPlugins = ofPlugins.includes(value);
    if (auth.apiKeys && !isPlugins) closeToKeys(table);
    snapshot.svc.grants[key] = isPlugins ? libraryPrivileges(table) : tableGrants(value, table);
  }
  for (const [key, view] of Object.entries(snapshot.views)) snapshot.svc.grants[key] = viewGrants(view);
  return snapshot;
}

/** Brings what drizzle-kit took of a table into the form that migrations have, and adds what it does not know. */
function complete(table: Table, declared: PgTable): void {
  for (const index of Object.values(table.indexes)) index.concurrently = false; // impossible in a transaction
  numberByIdentity(table);
  correctDefaults(declared, table);
  addOwnerIndex(declared, table);
  for (const policy of tableConfig(declared).policies) {
    const [taken, meaning] = [table.policies[policy.name], meaningOf(policy)];
    if (taken && meaning !== undefined) taken.meaning = meaning;
  }
}

/** An empty snapshot, for a new application. */
export const emptySnapshot = async (): Promise<Snapshot> => takeSnapshot({ schema: {}, auth: {} }, null);

const isPlatform = (value: unknown) =>
  is(value, PgTable) && platformSchemas.includes(tableConfig(value).schema ?? "public");

function refuseOwnRole(name: string, role: PgRole): void {
  // Drizzle does not export this flag.
  if ((role as unknown as { _existing?: boolean })._existing) return;
  throw new DefinitionError(`The schema exports a role, ${name}, that a migration would have to create.`, {
    hint: `Migrations run without the right to create roles. Create it as the administrator, and here: pgRole("${role.name}").existing().`,
  });
}

function refuseLinked({ policies }: Snapshot): void {
  for (const { name, on } of Object.values(policies)) {
    throw new DefinitionError(`The policy "${name}" is linked to ${on ?? "a table"}, which the schema does not have.`, {
      hint: "Declare it in the table's own definition. The platform's tables have their policies in its sql/policies/.",
    });
  }
}
