/**
 * Executes a GraphQL request: one document, one transaction, one identity. Loaded on first use: PostGraphile takes a
 * second to load and to read the catalog.
 * Next hop: `documents.ts` for what may be asked, `plain-call.ts` for plain documents, `preset.ts` for the schema,
 * `src/call/invoke.ts` for the transaction of the others.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { execute } from "grafast";
import { type ExecutionResult, GraphQLError, type GraphQLSchema, type OperationDefinitionNode } from "grafast/graphql";
import { makeSchema } from "graphile-build";
import { inTransaction, invokeWithin, isGenerated, type Runtime } from "../call/invoke.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { Api } from "../contract/api.ts";
import type { Caller } from "../contract/caller.ts";
import { maxRetries } from "../crud/statement.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isOutdated, isTransient } from "../postgres/errors.ts";
import { createPool } from "../postgres/pools.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { Documents, type Found } from "./documents.ts";
import { describeErrors, RefusedDocument, toGraphqlError } from "./errors.ts";
import { exposedTables } from "./exposed.ts";
import { costOf, writesOf } from "./limits.ts";
import { callPlain } from "./plain-call.ts";
import { type PlainDocument, plainDocument } from "./plain-document.ts";
import { preset } from "./preset.ts";
import type { RequestContext } from "./request-context.ts";
import { clientOf } from "./transaction-client.ts";

/** A client's request with checked types. */
export interface GraphqlRequest {
  query: string;
  operationName: string | null;
  variables: Record<string, unknown>;
}

interface GraphqlAnswer {
  /** JSON text. */
  body: string;
  /** An error for the log. */
  failure?: unknown;
}

/** @param count counts further calls of the same request; it throws RATE_LIMITED */
export type Engine = (
  request: GraphqlRequest,
  caller: Caller,
  count: (calls: number) => void,
) => Promise<GraphqlAnswer>;

export interface EngineOptions {
  api: Api;
  runtime: Runtime;
  settings: EffectiveConfig["graphql"];
  /** Longest statement of a call by name, in milliseconds. */
  generatedTimeoutMs: number;
}

/** One execution of a request. */
interface Attempt {
  /** Whether it must not be repeated: an error then goes to the caller. */
  isOnly: boolean;
}

/** An error that the same request may not have again: of a conflict, or of a migration meanwhile. */
const isPassing = (error: unknown) => isTransient(error) || isOutdated(error);

/** Reads the catalog and builds the schema. @throws errors of building it */
export async function createEngine(options: EngineOptions): Promise<Engine & { schema: GraphQLSchema }> {
  const { api, runtime, settings } = options;
  const { schema, resolvedPreset } = await readSchema(api, runtime);
  const documents = new Documents(schema, settings);
  const limited: Runtime = {
    ...runtime,
    limits: {
      ...runtime.limits,
      statementTimeoutMs: Math.min(runtime.limits.statementTimeoutMs, settings.statementTimeoutMs),
    },
  };

  // A statement of a call by name has the limit of those calls.
  const hasTime = limited.limits.statementTimeoutMs >= options.generatedTimeoutMs;
  /** Documents are kept in a cache with bounds, so these are, too. */
  const plains = new WeakMap<OperationDefinitionNode, PlainDocument | null>();
  const plainOf = ({ document, operation }: Found) => {
    if (!hasTime) return null;
    const known = plains.get(operation);
    if (known !== undefined) return known;
    const plain = plainDocument(schema, document, operation);
    plains.set(operation, plain);
    return plain;
  };

  const generated = (name: string) => {
    const procedure = api["~svc"].procedures.get(name);
    if (!procedure || !isGenerated(procedure)) throw new SvcError("NOT_FOUND");
    return procedure;
  };

  /** @returns undefined when the document needs a plan of PostGraphile */
  const answerPlain = async (found: Found, { variables }: GraphqlRequest, caller: Caller) => {
    const plain = plainOf(found);
    const answer = plain && (await callPlain(runtime, api, plain, variables, caller));
    if (!answer) return undefined;
    const { key, field } = plain;
    if ("value" in answer) return { body: encode({ [key]: answer.value }, [], caller) };
    const at = new GraphQLError(answer.error.message, { nodes: [field], path: [key] });
    const isWrite = found.operation.operation === "mutation";
    const body = encode(isWrite ? null : { [key]: null }, [toGraphqlError(at, answer.error)], caller);
    return { body, failure: answer.error };
  };

  /** @param attempt is marked when code of the application has run, which must not run twice */
  const carryOut = async ({ document, operation }: Found, asked: GraphqlRequest, caller: Caller, attempt: Attempt) => {
    const { operationName, variables } = asked;
    const access = operation.operation === "mutation" ? "write" : "read";
    let failure: unknown;
    let hasFailed = false;
    const body = await inTransaction(limited, caller, access, async (transaction, context) => {
      const client = clientOf(transaction, limited.limits.statementTimeoutMs);
      const contextValue: RequestContext = {
        session: caller.session,
        pgSettings: null,
        withPgClient: (_settings, use) => Promise.resolve(use(client)),
        async read(name, input) {
          try {
            const call = () => invokeWithin(transaction, context, generated(name), input, runtime);
            return JSON.parse(await client.limited(call));
          } catch (error) {
            if (error instanceof SvcError && error.code === "NOT_FOUND") return null;
            throw error;
          }
        },
        async write(name, input) {
          // Hooks may have other side effects, so they do not run when the request is rolled back anyway.
          if (hasFailed) throw new SvcError("PRECONDITION_FAILED", "Not executed, because an earlier field failed.");
          const procedure = generated(name);
          if (procedure.statement.before) attempt.isOnly = true;
          try {
            return JSON.parse(await invokeWithin(transaction, context, procedure, input, runtime)).id;
          } catch (error) {
            hasFailed = true;
            throw error;
          }
        },
      };
      const result = (await execute({
        schema,
        document,
        operationName,
        variableValues: variables,
        contextValue,
        resolvedPreset,
        outputDataAsString: true,
      })) as ExecutionResult;
      const errors = result.errors?.map((error) => explained(error, transaction)) ?? [];
      const passing = errors.find(({ originalError }) => isPassing(originalError));
      if (passing && !attempt.isOnly) throw passing.originalError;
      const reason = worst(errors);
      // Variables that do not fit, or a plan that takes too long: nothing was executed.
      if (result.data === undefined) throw reason?.code === "VALIDATION_FAILED" ? new RefusedDocument(errors) : reason;
      failure = reason;
      if (errors.length > 0) await transaction.rollback();
      // A request is one transaction: if a field failed, nothing was written, so no data is returned.
      return encode(errors.length > 0 && access === "write" ? null : result.data, errors, caller);
    });
    return { body, failure };
  };

  const engine: Engine = async (asked, caller, count) => {
    const found = documents.find(asked.query, asked.operationName);
    const cost = costOf(schema, found.document, found.operation, asked.variables);
    if (cost > settings.maxCost) throw documents.tooCostly(cost);
    const writes = writesOf(found.document, found.operation);
    if (writes > 1) count(writes - 1);
    const plain = await answerPlain(found, asked, caller);
    if (plain) return plain;
    for (let retries = 0; ; retries++) {
      const attempt = { isOnly: retries === maxRetries };
      try {
        return await carryOut(found, asked, caller, attempt);
      } catch (error) {
        // A failed COMMIT arrives here too: it has written nothing.
        if (attempt.isOnly || !isPassing(error)) throw error;
        // Waits until the conflicting transaction is done; an immediate retry would conflict again.
        if (isTransient(error)) await sleep((retries + 1) * (100 + Math.random() * 200));
      }
    }
  };
  return Object.assign(engine, { schema });
}

/**
 * The catalog arrives as one row of several megabytes, and takes longer to read the more tables there are. So it is read by a
 * connection of its own: neither `limits.rowBytes` nor the timeout of generated procedures is for it.
 */
async function readSchema(api: Api, { requestPool, limits, log }: Runtime) {
  const { connectionString = "", connectionTimeoutMillis: waitMs = 0 } = requestPool.options;
  const { statementTimeoutMs, idleInTransactionMs } = limits;
  const settings = { request: 1, system: 1, auth: 1, waitMs, statementTimeoutMs, idleInTransactionMs };
  const { pool, close } = createPool("request", connectionString, settings, log);
  try {
    return await makeSchema(preset(exposedTables(api), pool));
  } finally {
    await close();
  }
}

/** The error of a plan, or the transaction's earlier error, worded for the caller. */
function explained(error: GraphQLError, transaction: RequestTransaction): GraphQLError {
  return toGraphqlError(error, transaction.explain(error.originalError ?? error));
}

/** The error for the log: our own failures before the caller's mistakes. */
function worst(errors: readonly GraphQLError[]): SvcError | undefined {
  const reasons = errors.map(({ originalError }) => originalError as SvcError);
  return reasons.find(({ status }) => status >= 500) ?? reasons[0];
}

/** @param data from `execute` with `outputDataAsString`: JSON text, or null */
function encode(data: unknown, errors: readonly GraphQLError[], caller: Caller): string {
  const text = typeof data === "string" ? data : JSON.stringify(data ?? null);
  if (errors.length === 0) return `{"data":${text}}`;
  return `{"errors":${JSON.stringify(describeErrors(errors, caller.requestId))},"data":${text}}`;
}
