// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import {
  type FiltersOf,
  type MutationOf,
  mutation,
  type QueryOf,
  query,
  type ResourceQueryOf,
  type RowIn,
} from "@svc/client";
import type { WorkflowProcedures as Workflows } from "../../../backend/generated/db.ts";
import type backend from "../../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;

const notesColumns = {
  createdAt: "date",
} as const;

interface NotesResource {
  row: RowIn<Procedures["notes"]["list"]>;
  filters: FiltersOf<Procedures["notes"]["list"]>;
  relations: Record<never, never>;
}

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface NotesOperations {
  readonly list: ResourceQueryOf<Procedures["notes"]["list"], NotesResource>;
  readonly get: ResourceQueryOf<Procedures["notes"]["get"], NotesResource>;
  readonly create: MutationOf<Procedures["notes"]["create"]>;
  readonly update: MutationOf<Procedures["notes"]["update"]>;
  readonly remove: MutationOf<Procedures["notes"]["remove"]>;
}
interface SiteOperations {
  readonly motto: QueryOf<Procedures["motto"]>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
export interface Api {
  readonly notes: NotesOperations;
  readonly site: SiteOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = {
  notes: {
    list: query("notes.list", notesColumns),
    get: query("notes.get", notesColumns),
    create: mutation("notes.create", notesColumns),
    update: mutation("notes.update", notesColumns),
    remove: mutation("notes.remove", notesColumns),
  },
  site: {
    motto: query("site.motto"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;
