/**
 * `defineApi`: registers everything that an application offers, and checks what can be checked without a database. The
 * server, the workers and the code generator read only its result.
 */
import type { Api, ApiBags, ProcedureBag } from "../contract/api.ts";
import { type ChannelBag, collectChannels } from "../contract/channel-definition.ts";
import { collectCrons } from "../contract/cron.ts";
import type { CrudDefinition } from "../contract/crud.ts";
import { type HttpRoute, HttpRouteBuilder, type RouteDefinition } from "../contract/http-route.ts";
import { nameByPlace, type Procedure, ProcedureBuilder, type ProcedureDefinition } from "../contract/procedure.ts";
import { collectWebhooks, type Webhook, type WebhookDefinition } from "../contract/webhook.ts";
import { collectWorkflows } from "../contract/workflow.ts";
import { checkDeliveries } from "../crud/crud-deliveries.ts";
import { linkRelations } from "../crud/relations.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { checkOptions } from "../kit/options.ts";
import { kindOf } from "../kit/v.ts";
import { groundingOptions } from "../rag/grounding-options.ts";
import { ingestWorkflow } from "../rag/ingest-workflow.ts";
import { importWorkflow } from "../transfer/import-workflow.ts";
import { workflowProcedures } from "../workflows/procedures.ts";

/** First path segments reserved for the platform. The path `/api/` itself is free for the application. */
// biome-ignore format: one line per kind
const reserved = [
  "/api/auth", "/api/query", "/api/mutation", "/api/batch", "/api/export", "/api/storage", "/api/realtime", "/api/graphql",
  "/ws", "/healthz", "/readyz", "/metrics", "/openapi.json", "/openapi", "/_studio",
];

/**
 * Collects an application's definitions. The default export of its `index.ts`.
 *
 * @throws DefinitionError for duplicate names, unfinished builders, and routes that collide
 * @example
 * export default defineApi({ procedures: { tasks: tasksCrud, openCount }, httpRoutes: { hello } });
 */
export function defineApi<const P extends object = ProcedureBag, const C extends ChannelBag = Record<never, never>>(
  bags: ApiBags<P, C>,
): Api<P, C> {
  refuseUnknownBags(bags);
  if (bags.crud) {
    process.emitWarning("The crud bag of defineApi is kept for old applications: move its entries to procedures.", {
      type: "DeprecationWarning",
      code: "SVC_CRUD_BAG",
    });
  }
  const { procedures, paths } = collectProcedures(bags);
  const crud = collectCrud(procedures.values());
  linkRelations(crud);
  const crons = collectCrons(bags.crons ?? {});
  for (const { name, procedure } of crons) register(procedures, procedure, `cron "${name}"`);
  const imports = importWorkflow(crud.filter(({ transfer }) => transfer.import));
  const workflows = collectWorkflows(bags.workflows ?? {}, [ingestWorkflow, imports]);
  registerBuiltIn(procedures, workflowProcedures(workflows), bags.workflows !== undefined);
  const routes = collectRoutes(bags.httpRoutes ?? {});
  const grounding = checkOptions("The grounding of defineApi", groundingOptions, bags.grounding ?? {});
  const webhooks = registerReceivers(collectWebhooks(bags.webhooks ?? {}), procedures);
  checkDeliveries(crud, webhooks);
  const channels = collectChannels(bags.channels ?? {}, procedures);
  for (const [key, value] of Object.entries(bags.channels ?? {})) paths.set(value["~svc"].channel.name, [key]);
  return { "~svc": { procedures, routes, crud, crons, webhooks, channels, paths, workflows, grounding } };
}

function refuseUnknownBags(bags: object): void {
  if (kindOf(bags) !== "an object") {
    throw new DefinitionError(`defineApi takes an object, as in { procedures: { … } }, got ${kindOf(bags)}.`);
  }
  for (const bag of Object.keys(bags)) {
    if (
      !["procedures", "channels", "httpRoutes", "crons", "webhooks", "workflows", "grounding", "crud"].includes(bag)
    ) {
      throw new DefinitionError(`defineApi does not know "${bag}".`, {
        hint: "It takes procedures, channels, httpRoutes, crons, webhooks, workflows and grounding.",
      });
    }
  }
}

/** The procedures by name, and where those of the bag `procedures` lie in it. */
function collectProcedures(bags: Pick<ApiBags<object, ChannelBag>, "crud" | "procedures">) {
  const procedures = new Map<string, ProcedureDefinition>();
  const paths = new Map<string, readonly string[]>();

  for (const bag of ["crud", "procedures"] as const) {
    for (const [keys, item] of Object.entries<unknown>(bags[bag] ?? {}).flatMap(entriesOf)) {
      const path = `${bag}.${keys.join(".")}`;
      const definition = finishedProcedure(path, item);
      nameByPlace(definition, keys.join("."));
      const known = procedures.get(definition.name);
      // The same definition may be in the legacy object and under `procedures` during a migration.
      if (known && (known !== definition || paths.has(definition.name))) {
        throw new DefinitionError(`Two procedures are named "${definition.name}"; the second is ${path}.`, {
          hint: "Give one of them another .name(), or its createCrud() another { prefix }.",
        });
      }
      procedures.set(definition.name, definition);
      if (bag === "procedures") paths.set(definition.name, keys);
    }
  }
  return { procedures, paths };
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
      hint: "Give one of them another .name(): the database identifies a cron by its name.",
    });
  }
  const crons = [...own, ...legacy];
  const procedures = new Map(api["~svc"].procedures);
  for (const { name, procedure } of crons) register(procedures, procedure, `cron "${name}"`);
  return { "~svc": { ...api["~svc"], crons, procedures } };
}

/** @param strict true: an application's procedure with a built-in name is an error; false: it replaces the built-in one */
function registerBuiltIn(
  procedures: Map<string, ProcedureDefinition>,
  builtIn: Readonly<Record<string, Procedure>>,
  strict: boolean,
): void {
  for (const { "~svc": own } of Object.values(builtIn)) {
    if (procedures.has(own.procedure.name)) {
      if (!strict) continue;
      throw new DefinitionError(`A procedure is named "${own.procedure.name}", which is built in.`, {
        hint: "Give it another .name(): with workflows registered, the platform uses this name.",
      });
    }
    procedures.set(own.procedure.name, own.procedure);
  }
}

/** Registers the procedure of a cron or a webhook: jobs find it by name. @param of such as `cron "nightly"` */
function register(procedures: Map<string, ProcedureDefinition>, procedure: ProcedureDefinition, of: string): void {
  if (!procedure.name) {
    throw new DefinitionError(`The procedure of the ${of} has no name.`, {
      hint: 'Register it under procedures, or call .name("module.operation") on it.',
    });
  }
  const known = procedures.get(procedure.name);
  if (known && known !== procedure) {
    throw new DefinitionError(`The ${of} runs another "${procedure.name}" than the one under procedures.`, {
      hint: "Register the same procedure, or give one of the two another .name().",
    });
  }
  procedures.set(procedure.name, procedure);
}

/** The definitions of webhooks, with the names of the procedures that receive. */
function registerReceivers(
  webhooks: readonly Webhook["~svc"][],
  procedures: Map<string, ProcedureDefinition>,
): WebhookDefinition[] {
  return webhooks.map(({ webhook, procedure }) => {
    if (!procedure) return webhook;
    register(procedures, procedure, `webhook "${webhook.name}"`);
    return { ...webhook, procedure: procedure.name };
  });
}

/** The resources of the registered procedures, each with its registered operations, whether registered as a whole or in part. */
function collectCrud(procedures: Iterable<ProcedureDefinition>): CrudDefinition[] {
  // PostgreSQL folds the names of the generated functions to lower case.
  const registered = new Map<string, { crud: CrudDefinition; names: Set<string> }>();
  for (const { crud, name } of procedures) {
    if (!crud) continue;
    const prefix = crud.prefix.toLowerCase();
    const known = registered.get(prefix);
    if (known && known.crud !== crud) throw twins(known.crud.prefix, crud.prefix);
    if (known) known.names.add(name);
    else registered.set(prefix, { crud, names: new Set([name]) });
  }
  return [...registered.values()].map(({ crud, names }) => ({
    ...crud,
    methods: crud.methods.filter((method) => names.has(`${crud.prefix}.${method}`)),
  }));
}

const twins = (first: string, second: string) =>
  new DefinitionError(
    first === second
      ? `Two createCrud have the prefix "${first}".`
      : `The prefixes "${first}" and "${second}" of createCrud differ only in upper and lower case.`,
    { hint: "Their SQL functions would have the same names. Give one of them another { prefix }." },
  );

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
    // Built-in paths ignore letter case.
    const path = route.path.toLowerCase();
    const taken = reserved.find((builtIn) => path === builtIn || path.startsWith(`${builtIn}/`));
    if (taken) {
      throw new DefinitionError(`httpRoutes.${key}: ${route.path} collides with the built-in ${taken}.`, {
        hint: "Choose another path.",
      });
    }
    // The names of parameters do not affect matching.
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

/** The procedures under a key, with their paths of keys: a single procedure, or those of a folder. */
const entriesOf = ([key, value]: [string, unknown]): [string[], unknown][] =>
  isFolder(value) ? Object.entries(value).map(([inner, item]) => [[key, inner], item]) : [[[key], value]];

function finishedProcedure(path: string, value: unknown): ProcedureDefinition {
  if (isProcedure(value)) return value["~svc"].procedure;
  if (value instanceof ProcedureBuilder) {
    const { name } = value["~state"];
    throw new DefinitionError(`${path}${name ? ` ("${name}")` : ""} is not finished.`, {
      hint: "End it with .handler(…).",
    });
  }
  if (Array.isArray(value)) {
    throw new DefinitionError(`${path} is a list.`, { hint: "Make it a record: clients call a procedure by its key." });
  }
  if (isFolder(value)) {
    throw new DefinitionError(`${path} is a folder inside a folder.`, {
      hint: "Procedures are nested one level deep. For a longer name, call .name() on the procedure.",
    });
  }
  throw new DefinitionError(`${path} is not a procedure.`, {
    hint: "Make it with procedure.query, procedure.mutation, procedure.internal or createCrud.",
  });
}

/** A record of procedures. A circular import yields undefined, which must not count as an empty record. */
const isFolder = (value: unknown): value is object =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !hasSvc(value) &&
  !(value instanceof ProcedureBuilder);
const isProcedure = (value: unknown): value is Procedure => hasSvc(value) && "procedure" in value["~svc"];
const isRoute = (value: unknown): value is HttpRoute => hasSvc(value) && "route" in value["~svc"];
const hasSvc = (value: unknown): value is { "~svc": object } =>
  typeof value === "object" && value !== null && "~svc" in value;
