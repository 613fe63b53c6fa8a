/** The public surface of @svc/core. What is not exported here is internal. */
export { type Ai, createAi } from "./ai/create-ai.ts";
export { type Api, defineApi } from "./app/api.ts";
export { defineConfig, type SvcConfig } from "./config/config.ts";
export { type AuthDefinition, defineAuth } from "./contract/auth.ts";
export type { Context, RequestDatabase, SystemDatabase } from "./contract/context.ts";
export { type Cron, cron } from "./contract/cron.ts";
export { createSvcHttpRouteBuilders, type HttpRoute, type RouteResult } from "./contract/http-route.ts";
export type { InputRefusal, Middleware, MiddlewareCall } from "./contract/middleware.ts";
export { createSvcProcedureBuilders, type Procedure } from "./contract/procedure.ts";
export { defineSeed, type Seed, type SeedCall, type SeedUser } from "./contract/seed.ts";
export { type Workflow, type WorkflowContext, type WorkflowOptions, workflow } from "./contract/workflow.ts";
export { createCrudFactory } from "./crud/crud.ts";
export type { CrudFilters } from "./crud/crud-filters.ts";
export type { CrudOptions } from "./crud/crud-options.ts";
export type { RealtimeScope, RowContext, ScopedRealtime } from "./crud/crud-realtime.ts";
export type { CrudList, CrudListArguments, CrudProcedures, CrudRow } from "./crud/crud-types.ts";
export { type Audience, memberRls, openRls, ownerRls } from "./crud/rls.ts";
export type { SvcRequest } from "./http/request.ts";
export { DefinitionError } from "./kit/definition-error.ts";
export { type ErrorCode, errorCodes } from "./kit/error-codes.ts";
export { type RetryOptions, withRetry } from "./kit/retry.ts";
export type { Session, SessionUser } from "./kit/session.ts";
export { type Issue, SvcError, type SvcErrorOptions } from "./kit/svc-error.ts";
export { type Infer, v } from "./kit/v.ts";
export type { Citation, ClaimInput, ClaimStatus, GroundedClaim } from "./rag/answer.ts";
export type {
  ContextRag,
  IngestFileInput,
  IngestInput,
  IngestResult,
  RagDocuments,
  RagSection,
  RagSource,
} from "./rag/context.ts";
export type { ContextGrounding, GroundedAnswer, GroundingInput, GroundingStreamInput } from "./rag/grounding.ts";
export type { IngestFileResult } from "./rag/ingest-workflow.ts";
export type { Passage, PassagesInput } from "./rag/passages.ts";
export type { OmittedSentence, WriteOptions, WrittenAnswer, WrittenSentence } from "./rag/written-answer.ts";
export type {
  ContextSearch,
  HybridSearchOptions,
  SearchItem,
  SearchOptions,
  SearchResult,
  VectorSearchOptions,
} from "./search/context.ts";
export type { RagScope } from "./search/scope.ts";
export type { SearchFilter } from "./search/search-input.ts";
export { type SearchableOptions, searchable } from "./search/searchable.ts";
export type { SearchSnippet } from "./search/snippets.ts";
export type { ContextWorkflows } from "./workflows/context.ts";
export type { WorkflowEvent, WorkflowRun, WorkflowStep, WorkflowTimeline } from "./workflows/records.ts";
export { type DerivedWorkflowStatus, deriveWorkflowStatus, type WorkflowStatus } from "./workflows/status.ts";
