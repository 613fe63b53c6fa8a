/**
 * Parses documents, checks them against the limits, validates them and caches the result, so that repeated texts cost nothing.
 * Next hop: `limits.ts` measures; `engine.ts` carries the operation out.
 */
import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
} from "grafast/graphql";
import type { EffectiveConfig } from "../config/config.ts";
import { RecentMap } from "../kit/recent-map.ts";
import { SvcError } from "../kit/svc-error.ts";
import { invalidDocument } from "./errors.ts";
import { sizeOf } from "./limits.ts";

export interface Found {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** In bytes: maximum of cached documents per process. */
const most = 32 * 1024 * 1024;

/** About what a parsed document takes, in bytes. */
const sizeInMemory = (text: string) => 2_000 + 75 * text.length;

/** Maximum number of tokens of a document, per allowed field. */
const tokensPerField = 50;

/** Maximum number of errors in an answer. */
const maxErrors = 5;

export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #settings: EffectiveConfig["graphql"];
  readonly #kept = new RecentMap<string, DocumentNode>(most, sizeInMemory);

  constructor(schema: GraphQLSchema, settings: EffectiveConfig["graphql"]) {
    this.#schema = schema;
    this.#settings = settings;
  }

  /**
   * @param operationName selects one of several operations; null when there is one
   * @throws SvcError VALIDATION_FAILED when the text is not a valid document for this schema, or exceeds a limit
   */
  find(text: string, operationName: string | null): Found {
    const document = this.#read(text);
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      throw new SvcError("VALIDATION_FAILED", "It is not clear which operation to carry out.", {
        hint: "Give operationName the name of one of the document's operations.",
      });
    }
    // The library would detect this only while planning, and print it.
    if (!this.#schema.getRootType(operation.operation)) {
      throw new SvcError("VALIDATION_FAILED", `This API has no ${operation.operation}s.`);
    }
    return { document, operation };
  }

  tooCostly(cost: number): SvcError {
    return tooLarge("could read", Math.min(cost, Number.MAX_SAFE_INTEGER), "rows", this.#settings.maxCost, "maxCost");
  }

  /**
   * A document that would displace many others is not cached. Nor is an error: with its trace it holds what the parser and
   * the validation have made, 60 KB for the shortest text.
   */
  #read(text: string): DocumentNode {
    const known = this.#kept.renew(text);
    if (known) return known;
    const document = this.#check(text);
    if (sizeInMemory(text) <= most / 20) this.#kept.set(text, document);
    return document;
  }

  #check(text: string): DocumentNode {
    const { introspection, maxFields } = this.#settings;
    try {
      const document = parse(text, { maxTokens: maxFields * tokensPerField, noLocation: false });
      const amount = document.definitions.length;
      if (amount > maxFields) throw tooLarge("comes with", amount, "definitions", maxFields, "maxFields");
      for (const definition of document.definitions) {
        if (definition.kind === "OperationDefinition") this.#measure(document, definition);
      }
      const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
      const errors = validate(this.#schema, document, rules, { maxErrors });
      if (errors.length > 0) throw invalidDocument(errors, introspection);
      return document;
    } catch (error) {
      if (error instanceof SvcError) throw error;
      if (error instanceof RangeError) throw new SvcError("VALIDATION_FAILED", "The document is nested too deeply.");
      throw invalidDocument([error as GraphQLError], introspection);
    }
  }

  /** Runs before validation, whose cost is quadratic in the document's size. */
  #measure(document: DocumentNode, operation: OperationDefinitionNode): void {
    const { maxDepth, maxFields, maxAliases } = this.#settings;
    const { depth, fields, aliases, fragments } = sizeOf(document, operation);
    if (depth > maxDepth) throw tooLarge("is", depth, "levels deep", maxDepth, "maxDepth");
    if (fields > maxFields) throw tooLarge("asks for", fields, "fields", maxFields, "maxFields");
    if (aliases > maxAliases) throw tooLarge("has", aliases, "aliases", maxAliases, "maxAliases");
    // The library validates and plans fragments inside of fragments by recursion.
    if (fragments > maxFields) throw tooLarge("spreads", fragments, "fragments", maxFields, "maxFields");
  }
}

const tooLarge = (verb: string, size: number, what: string, limit: number, setting: string) =>
  new SvcError("VALIDATION_FAILED", `The operation ${verb} ${size} ${what}; ${limit} are allowed.`, {
    hint: `Ask for less at once, or raise graphql.${setting} in svc.config.ts.`,
  });
