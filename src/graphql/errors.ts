/**
 * Converts errors to GraphQL's form, with code, hint, issues and request id in `extensions`. SQL and PostGraphile's
 * internal messages are never sent to callers.
 * Next hop: `src/kit/error-codes.ts` for the codes, `src/postgres/errors.ts` for the database's own.
 */
import { isSafeError } from "grafast";
import { GraphQLError } from "grafast/graphql";
import { SvcError } from "../kit/svc-error.ts";

/** An error of a field: keeps its location, and takes the message of a `SvcError`. */
export function toGraphqlError(error: GraphQLError, reason: unknown): GraphQLError {
  const known = reason instanceof SvcError ? reason : fromLibrary(error, reason);
  return new GraphQLError(known.message, { nodes: error.nodes, path: error.path, originalError: known });
}

/**
 * GraphQL's own errors about variables and values are shown to the caller: they have no thrown cause, or a cause that
 * is marked as safe. All other errors are internal and go to the log.
 */
function fromLibrary(error: GraphQLError, reason: unknown): SvcError {
  if (reason instanceof Error && isSafeError(reason)) return new SvcError("VALIDATION_FAILED", reason.message);
  const isOwn = reason === error || reason instanceof GraphQLError;
  if (isOwn && (error.originalError === undefined || error.originalError instanceof GraphQLError)) {
    return new SvcError("VALIDATION_FAILED", error.message);
  }
  return new SvcError("INTERNAL", undefined, { cause: reason });
}

/** The error for an invalid document. */
export function invalidDocument(errors: readonly GraphQLError[], showSuggestions: boolean): RefusedDocument {
  return new RefusedDocument(
    errors.map(({ message, nodes, source, positions }) => {
      const text = showSuggestions ? message : message.replace(/ Did you mean (?:(?! Did you mean )[^?])*\?/g, "");
      return new GraphQLError(text, { nodes, source, positions });
    }),
  );
}

/** All errors of a document, or of its variables, that keep it from being executed. */
export class RefusedDocument extends SvcError {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super("VALIDATION_FAILED", errors[0]?.message);
    this.errors = errors;
  }
}

/** The `errors` of an answer. */
export const describeErrors = (errors: readonly GraphQLError[], requestId: string) =>
  errors.map(({ message, locations, path, originalError }) => {
    // Without a reason the document is invalid.
    const { code = "VALIDATION_FAILED", hint, issues } = (originalError ?? {}) as Partial<SvcError>;
    return { message, locations, path, extensions: { code, hint, issues, requestId } };
  });

/** The body for a request that is refused before execution. */
export function refusal(error: SvcError, requestId: string): string {
  const errors =
    error instanceof RefusedDocument ? error.errors : [new GraphQLError(error.message, { originalError: error })];
  return JSON.stringify({ errors: describeErrors(errors, requestId) });
}
