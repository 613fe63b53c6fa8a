/** The public surface of @svc/core. What is not exported here is internal. */
export { type Ai, createAi } from "./ai/create-ai.ts";
export type { Session, SessionUser } from "./auth/session.ts";
export type { ContextGrounding, GroundedAnswer, GroundingInput, GroundingStreamInput } from "./context/grounding.ts";
export type {
  ContextRag,
  IngestFileInput,
  IngestInput,
  IngestResult,
  RagDocuments,
  RagSection,
  RagSource,
} from "./context/rag.ts";
export type {
  ContextSearch,
  HybridSearchOptions,
  SearchItem,
  SearchOptions,
  SearchResult,
  VectorSearchOptions,
} from "./context/search.ts";
export type { SearchFilter } from "./context/search-input.ts";
export type { SearchSnippet } from "./context/snippets.ts";
export type { Context, RequestDatabase, SystemDatabase } from "./context/types.ts";
export type { ContextWorkflows } from "./context/workflows.ts";
export type { OmittedSentence, WriteOptions, WrittenAnswer, WrittenSentence } from "./context/written-answer.ts";
export { type Api, defineApi } from "./define/api.ts";
export { type AuthDefinition, defineAuth } from "./define/auth.ts";
export { defineConfig, type SvcConfig } from "./define/config.ts";
export { type Cron, cron } from "./define/cron.ts";
export { createCrudFactory } from "./define/crud.ts";
export type { CrudFilters } from "./define/crud-filters.ts";
export type { CrudOptions } from "./define/crud-options.ts";
export type { RealtimeScope, RowContext, ScopedRealtime } from "./define/crud-realtime.ts";
export type { CrudList, CrudListArguments, CrudProcedures, CrudRow } from "./define/crud-types.ts";
export { DefinitionError } from "./define/definition-error.ts";
export { createSvcHttpRouteBuilders, type HttpRoute, type RouteResult } from "./define/http-route.ts";
export type { InputRefusal, Middleware, MiddlewareCall } from "./define/middleware.ts";
export { createSvcProcedureBuilders, type Procedure } from "./define/procedure.ts";
export { type RetryOptions, withRetry } from "./define/retry.ts";
export { type Audience, memberRls, openRls, ownerRls } from "./define/rls.ts";
export { type SearchableOptions, searchable } from "./define/searchable.ts";
export { defineSeed, type Seed, type SeedCall, type SeedUser } from "./define/seed.ts";
export { type Infer, v } from "./define/v.ts";
export { type Workflow, type WorkflowContext, type WorkflowOptions, workflow } from "./define/workflow.ts";
export { type ErrorCode, errorCodes } from "./errors/codes.ts";
export { type Issue, SvcError, type SvcErrorOptions } from "./errors/svc-error.ts";
export type { SvcRequest } from "./http/request.ts";
export type { Citation, ClaimInput, ClaimStatus, GroundedClaim } from "./rag/answer.ts";
export type { IngestFileResult } from "./rag/ingest-workflow.ts";
export type { Passage, PassagesInput } from "./rag/passages.ts";
export type { RagScope } from "./rag/scope.ts";
export type { WorkflowEvent, WorkflowRun, WorkflowStep, WorkflowTimeline } from "./workflows/records.ts";
export { type DerivedWorkflowStatus, deriveWorkflowStatus, type WorkflowStatus } from "./workflows/status.ts";
