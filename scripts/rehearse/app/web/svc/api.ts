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
import type { WorkflowProcedures as Workflows } from "../../backend/generated/db.ts";
import type backend from "../../backend/index.ts";

type Procedures = NonNullable<(typeof backend)["~svc"]["types"]>;

const marksColumns = {
  createdAt: "date",
} as const;

interface MarksResource {
  row: RowIn<Procedures["marks"]["list"]>;
  filters: FiltersOf<Procedures["marks"]["list"]>;
  relations: Record<never, never>;
}

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface MarksOperations {
  readonly list: ResourceQueryOf<Procedures["marks"]["list"], MarksResource>;
  readonly get: ResourceQueryOf<Procedures["marks"]["get"], MarksResource>;
  readonly create: MutationOf<Procedures["marks"]["create"]>;
  readonly update: MutationOf<Procedures["marks"]["update"]>;
  readonly remove: MutationOf<Procedures["marks"]["remove"]>;
  readonly add: MutationOf<Procedures["add"]>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
export interface Api {
  readonly marks: MarksOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = {
  marks: {
    list: query("marks.list", marksColumns),
    get: query("marks.get", marksColumns),
    create: mutation("marks.create", marksColumns),
    update: mutation("marks.update", marksColumns),
    remove: mutation("marks.remove", marksColumns),
    add: mutation("marks.add"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;
