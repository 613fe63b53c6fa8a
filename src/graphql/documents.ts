/**
 * Documents: parsed, held against the limits, validated, and kept, so that a client's hundredth request with the same text
 * costs none of it. What is wrong with a document is kept as well.
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
import { SvcError } from "../kit/svc-error.ts";
import { invalidDocument } from "./errors.ts";
import { sizeOf } from "./limits.ts";

export interface Found {
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** Text of documents that a process keeps, in characters, at most: parsed, it takes some fifty times as much memory. */
const most = 500_000;

/** Words and signs of a document, at most: a field, a bracket, a name each. Per field that is allowed. */
const tokensPerField = 50;

/** Errors that are told at once. Past a few, nobody reads them. */
const maxErrors = 5;

export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #settings: EffectiveConfig["graphql"];
  readonly #kept = new Map<string, DocumentNode | SvcError>();
  #size = 0;

  constructor(schema: GraphQLSchema, settings: EffectiveConfig["graphql"]) {
    this.#schema = schema;
    this.#settings = settings;
  }

  /**
   * @param operationName which of several; null where there is one
   * @throws SvcError VALIDATION_FAILED when the text is no document, none for this schema, or larger than is allowed
   */
  find(text: string, operationName: string | null): Found {
    const document = this.#read(text);
    if (document instanceof SvcError) throw document;
    const operation = getOperationAST(document, operationName);
    if (!operation) {
      throw new SvcError("VALIDATION_FAILED", "It is not clear which operation to carry out.", {
        hint: "Give operationName the name of one of the document's operations.",
      });
    }
    // The library would find out while it plans, and print it.
    if (!this.#schema.getRootType(operation.operation)) {
      throw new SvcError("VALIDATION_FAILED", `There are no ${operation.operation}s here.`);
    }
    return { document, operation };
  }

  tooCostly(cost: number): SvcError {
    return tooLarge("could read", Math.min(cost, Number.MAX_SAFE_INTEGER), "rows", this.#settings.maxCost, "maxCost");
  }

  /** Those that were used least recently make room. One that would push out many others is not kept. */
  #read(text: string): DocumentNode | SvcError {
    const known = this.#kept.get(text);
    if (known) {
      this.#kept.delete(text);
      this.#kept.set(text, known);
      return known;
    }
    const document = this.#check(text);
    if (text.length > most / 20) return document;
    this.#kept.set(text, document);
    this.#size += text.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= most) break;
      this.#kept.delete(oldest);
      this.#size -= oldest.length;
    }
    return document;
  }

  #check(text: string): DocumentNode | SvcError {
    const { introspection, maxFields } = this.#settings;
    try {
      const document = parse(text, { maxTokens: maxFields * tokensPerField, noLocation: false });
      for (const definition of document.definitions) {
        if (definition.kind === "OperationDefinition") this.#measure(document, definition);
      }
      const rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
      const errors = validate(this.#schema, document, rules, { maxErrors });
      return errors.length > 0 ? invalidDocument(errors, introspection) : document;
    } catch (error) {
      if (error instanceof SvcError) return error;
      return invalidDocument([error as GraphQLError], introspection);
    }
  }

  /** Before validation, whose work grows with the square of what it is given. */
  #measure(document: DocumentNode, operation: OperationDefinitionNode): void {
    const { maxDepth, maxFields, maxAliases } = this.#settings;
    const { depth, fields, aliases } = sizeOf(document, operation);
    if (depth > maxDepth) throw tooLarge("is", depth, "levels deep", maxDepth, "maxDepth");
    if (fields > maxFields) throw tooLarge("asks for", fields, "fields", maxFields, "maxFields");
    if (aliases > maxAliases) throw tooLarge("has", aliases, "aliases", maxAliases, "maxAliases");
  }
}

const tooLarge = (verb: string, size: number, what: string, limit: number, setting: string) =>
  new SvcError("VALIDATION_FAILED", `The operation ${verb} ${size} ${what}; ${limit} are allowed.`, {
    hint: `Ask for less at once, or raise graphql.${setting} in svc.config.ts.`,
  });
