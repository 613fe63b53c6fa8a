/**
 * `defineApi`: the one place where an application says what it offers. Reports every mistake that can be seen without a
 * database; what it returns is all that the server, the workers and the code generator read.
 */

import { ingestWorkflow } from "../rag/ingest-workflow.ts";
import { type WorkflowProcedures, workflowProcedures } from "../workflows/procedures.ts";
import { type Cron, type CronDefinition, collectCrons } from "./cron.ts";
import { isCrud } from "./crud.ts";
import type { CrudDefinition } from "./crud-definition.ts";
import { DefinitionError } from "./definition-error.ts";
import { type HttpRoute, HttpRouteBuilder, type RouteDefinition } from "./http-route.ts";
import { type Procedure, ProcedureBuilder, type ProcedureDefinition } from "./procedure.ts";
import { collectWorkflows, type Workflow, type Workflows } from "./workflow.ts";

/** Procedures by key, one level of nesting allowed. The keys only register; the procedures' names are the API. */
export type ProcedureBag = Record<string, Procedure | Record<string, Procedure>>;

export interface ApiBags<P extends ProcedureBag> {
  procedures?: P;
  httpRoutes?: Record<string, HttpRoute>;
  crons?: Record<string, Cron>;
  /** Beside the built-in `rag.ingest`. What clients may do with runs: src/workflows/procedures.ts. */
  // biome-ignore lint/suspicious/noExplicitAny: of any arguments and result
  workflows?: Record<string, Workflow<any, any>>;
  /** @deprecated Register what `createCrud` returns under `procedures`. */
  crud?: ProcedureBag;
}

/** What an application offers, checked. `types` exists for the type system alone. */
export interface Api<P extends ProcedureBag = ProcedureBag> {
  readonly "~svc": {
    readonly procedures: ReadonlyMap<string, ProcedureDefinition>;
    readonly routes: readonly RouteDefinition[];
    readonly crud: readonly CrudDefinition[];
    readonly crons: readonly CronDefinition[];
    /** Where in the `procedures` bag each procedure stands, by its name: for the generated `api.ts`. */
    readonly paths: ReadonlyMap<string, readonly string[]>;
    readonly workflows: Workflows;
    readonly types?: P;
    readonly workflowTypes?: WorkflowProcedures;
  };
}

/** First path segments that belong to the platform; `/api/` alone is the application's. */
// biome-ignore format: one line per kind
const reserved = [
  "/api/auth", "/api/query", "/api/mutation", "/api/storage", "/api/realtime", "/api/graphql",
  "/ws", "/healthz", "/readyz", "/metrics", "/openapi.json", "/openapi", "/_studio",
];

/**
 * Collects what the application offers. The default export of its `index.ts`.
 *
 * @throws DefinitionError for duplicate names, unfinished builders, and routes that collide
 * @example
 * export default defineApi({ procedures: { tasks: tasksCrud, openCount }, httpRoutes: { hello } });
 */
export function defineApi<const P extends ProcedureBag>(bags: ApiBags<P>): Api<P> {
  for (const bag of Object.keys(bags)) {
    if (!["procedures", "httpRoutes", "crons", "workflows", "crud"].includes(bag)) {
      throw new DefinitionError(`defineApi does not know "${bag}".`, {
        hint: "It takes procedures, httpRoutes, crons and workflows.",
      });
    }
  }
  if (bags.crud) {
    process.emitWarning("The crud bag of defineApi is kept for old applications: move its entries to procedures.", {
      type: "DeprecationWarning",
      code: "SVC_CRUD_BAG",
    });
  }
  const procedures = new Map<string, ProcedureDefinition>();
  const crud: CrudDefinition[] = [];
  const paths = new Map<string, readonly string[]>();

  // Registered in both, it is one; another one under the same key is another.
  const legacy = Object.entries<unknown>(bags.crud ?? {}).filter(([key, value]) => bags.procedures?.[key] !== value);
  const entries = [
    ...legacy.map(([key, value]) => ({ key, value, isLegacy: true })),
    ...Object.entries<unknown>(bags.procedures ?? {}).map(([key, value]) => ({ key, value, isLegacy: false })),
  ];
  for (const { key, value, isLegacy } of entries) {
    if (isCrud(value)) {
      refuseTwin(crud, value["~crud"].prefix);
      crud.push(value["~crud"]);
    }
    const items: [string[], unknown][] = isFolder(value)
      ? Object.entries(value).map(([inner, item]) => [[key, inner], item])
      : [[[key], value]];

    for (const [keys, item] of items) {
      const path = keys.join(".");
      const definition = finishedProcedure(path, item);
      if (procedures.has(definition.name)) {
        throw new DefinitionError(`Two procedures are named "${definition.name}"; the second is procedures.${path}.`, {
          hint: "Give one of them another .name(), or its createCrud() another { prefix }.",
        });
      }
      procedures.set(definition.name, definition);
      if (!isLegacy) paths.set(definition.name, keys);
    }
  }
  const crons = collectCrons(bags.crons ?? {});
  registerHandlers(crons, procedures);
  const workflows = collectWorkflows({ ...bags.workflows, "the built-in rag.ingest": ingestWorkflow });
  registerBuiltIn(procedures, bags.workflows !== undefined);
  const routes = collectRoutes(bags.httpRoutes ?? {});
  return { "~svc": { procedures, routes, crud, crons, paths, workflows } };
}

/**
 * Adds the crons of a legacy `crons.ts` to an application.
 *
 * @throws DefinitionError as `defineApi`
 */
export function withCrons(api: Api, bag: Readonly<Record<string, unknown>>, place: string): Api {
  const own = api["~svc"].crons;
  const legacy = collectCrons(bag, place).filter((cron) => !own.includes(cron));
  const twin = legacy.find(({ name }) => own.some((other) => other.name === name));
  if (twin) {
    throw new DefinitionError(`${place} and the crons of defineApi both name a cron "${twin.name}".`, {
      hint: "Give one of them another .name(): it is what the database remembers it by.",
    });
  }
  const crons = [...own, ...legacy];
  const procedures = new Map(api["~svc"].procedures);
  registerHandlers(crons, procedures);
  return { "~svc": { ...api["~svc"], crons, procedures } };
}

/** @param strict whether a name of the application's that is taken is a mistake; else it keeps it */
function registerBuiltIn(procedures: Map<string, ProcedureDefinition>, strict: boolean): void {
  for (const { "~svc": own } of Object.values<Procedure>(workflowProcedures)) {
    if (procedures.has(own.procedure.name)) {
      if (!strict) continue;
      throw new DefinitionError(`A procedure is named "${own.procedure.name}", which is built in.`, {
        hint: "Give it another .name(): with workflows registered, those of the platform are called so.",
      });
    }
    procedures.set(own.procedure.name, own.procedure);
  }
}

/** Jobs find their procedure by its name, so what a cron runs has to be among the procedures. */
function registerHandlers(crons: readonly CronDefinition[], procedures: Map<string, ProcedureDefinition>): void {
  for (const { name, procedure } of crons) {
    const known = procedures.get(procedure.name);
    if (known && known !== procedure) {
      throw new DefinitionError(`The cron "${name}" runs another "${procedure.name}" than the one under procedures.`, {
        hint: "Register the same procedure, or give one of the two another .name().",
      });
    }
    procedures.set(procedure.name, procedure);
  }
}

/** PostgreSQL folds the names of the generated functions to lower case. */
function refuseTwin(crud: readonly CrudDefinition[], prefix: string): void {
  const twin = crud.find((other) => other.prefix.toLowerCase() === prefix.toLowerCase() && other.prefix !== prefix);
  if (!twin) return;
  throw new DefinitionError(
    `The prefixes "${twin.prefix}" and "${prefix}" of createCrud differ in the case of letters alone.`,
    {
      hint: "Their SQL functions would share their names. Give one of them another { prefix }.",
    },
  );
}

function collectRoutes(bag: Record<string, HttpRoute>): RouteDefinition[] {
  const seen = new Map<string, string>();
  return Object.entries<unknown>(bag).map(([key, value]) => {
    if (value instanceof HttpRouteBuilder) {
      throw new DefinitionError(`httpRoutes.${key} is not finished.`, { hint: "End it with .handler(…)." });
    }
    if (!isRoute(value)) {
      throw new DefinitionError(`httpRoutes.${key} is not a route.`, { hint: "Make it with httpRoute.get and so on." });
    }
    const { route } = value["~svc"];
    // Built-in paths answer in any case of letters.
    const path = route.path.toLowerCase();
    const taken = reserved.find((builtIn) => path === builtIn || path.startsWith(`${builtIn}/`));
    if (taken) {
      throw new DefinitionError(`httpRoutes.${key}: ${route.path} collides with the built-in ${taken}.`, {
        hint: "Choose another path.",
      });
    }
    // Parameters match alike whatever they are called.
    const shape = `${route.verb} ${route.path.replace(/:\w+/g, ":")}`;
    const other = seen.get(shape);
    if (other) {
      throw new DefinitionError(`httpRoutes.${key} and httpRoutes.${other} both take ${route.verb} ${route.path}.`, {
        hint: "Only the first could ever answer. Change one of the paths.",
      });
    }
    seen.set(shape, key);
    return route;
  });
}

function finishedProcedure(path: string, value: unknown): ProcedureDefinition {
  if (isProcedure(value)) return value["~svc"].procedure;
  if (value instanceof ProcedureBuilder) {
    const { name } = value["~state"];
    throw new DefinitionError(`procedures.${path}${name ? ` ("${name}")` : ""} is not finished.`, {
      hint: "End it with .handler(…).",
    });
  }
  throw new DefinitionError(`procedures.${path} is not a procedure.`, {
    hint: "Make it with procedure.query, procedure.mutation, procedure.internal or createCrud.",
  });
}

/** A record of procedures. What was imported before it was made is undefined, and must not pass for an empty one. */
const isFolder = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !hasSvc(value) && !(value instanceof ProcedureBuilder);
const isProcedure = (value: unknown): value is Procedure => hasSvc(value) && "procedure" in value["~svc"];
const isRoute = (value: unknown): value is HttpRoute => hasSvc(value) && "route" in value["~svc"];
const hasSvc = (value: unknown): value is { "~svc": object } =>
  typeof value === "object" && value !== null && "~svc" in value;
