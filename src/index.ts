/** The public surface of @svc/core. What is not exported here is internal. */
export { type Ai, createAi } from "./ai/create-ai.ts";
export { defineApi } from "./app/api.ts";
export { createSvc, type Svc } from "./app/create-svc.ts";
export { defineConfig, type SvcConfig } from "./config/config.ts";
export type { Api } from "./contract/api.ts";
export { type AuthDefinition, defineAuth, type InvitationMail } from "./contract/auth.ts";
export { type ChannelOptions, channel, type DurableOptions } from "./contract/channel.ts";
export type { Channel } from "./contract/channel-definition.ts";
export type { Context } from "./contract/context.ts";
export { type Cron, cron } from "./contract/cron.ts";
export type { RealtimeScope, RowContext } from "./contract/crud.ts";
export type { RequestDatabase, SystemDatabase } from "./contract/database.ts";
export type {
  Citation,
  ClaimInput,
  ClaimStatus,
  ContextGrounding,
  GroundedAnswer,
  GroundedClaim,
  GroundingInput,
  GroundingJudge,
  GroundingOptions,
  GroundingStreamInput,
  JudgePassage,
  JudgeQuestion,
  JudgeVerdict,
  OmittedSentence,
  WriteOptions,
  WrittenAnswer,
  WrittenSentence,
} from "./contract/grounding.ts";
export type { SignedIn, SignInInput, SignUpInput, UserChanges } from "./contract/handler-auth.ts";
export {
  createSvcHttpRouteBuilders,
  type HttpRoute,
  type RouteErrors,
  type RouteResult,
} from "./contract/http-route.ts";
export type { InputRefusal, Middleware, MiddlewareCall } from "./contract/middleware.ts";
export { createSvcProcedureBuilders, type Procedure } from "./contract/procedure.ts";
export type {
  ContextRag,
  IngestFileInput,
  IngestInput,
  IngestResult,
  Passage,
  PassagesInput,
  RagDocuments,
  RagSection,
  RagSource,
} from "./contract/rag.ts";
export type { CountCall, RateLimit } from "./contract/rate-limit.ts";
export type { SvcRequest } from "./contract/request.ts";
export type {
  ContextSearch,
  HybridSearchOptions,
  RagScope,
  SearchFeedback,
  SearchFilter,
  SearchItem,
  SearchOptions,
  SearchResult,
  SearchSnippet,
  VectorSearchOptions,
} from "./contract/search.ts";
export { defineSeed, type Seed, type SeedCall, type SeedUser } from "./contract/seed.ts";
export type { Webhook } from "./contract/webhook.ts";
export { type Workflow, type WorkflowContext, type WorkflowOptions, workflow } from "./contract/workflow.ts";
export type {
  ContextWorkflows,
  DerivedWorkflowStatus,
  WorkflowEvent,
  WorkflowRun,
  WorkflowStatus,
  WorkflowStep,
  WorkflowTimeline,
} from "./contract/workflow-runs.ts";
export { createCrudFactory } from "./crud/crud.ts";
export type { CrudFilters } from "./crud/crud-filters.ts";
export type {
  CrudList,
  CrudListArguments,
  CrudOptions,
  CrudProcedures,
  CrudRow,
  ScopedRealtime,
} from "./crud/crud-types.ts";
export { type OrgMembers, orgRls } from "./crud/org-rls.ts";
export {
  organizationInvitations,
  organizationMembers,
  organizations,
  serviceAccounts,
} from "./crud/organization-tables.ts";
export { type Audience, memberRls, openRls, ownerRls } from "./crud/rls.ts";
export { scoped } from "./crud/scoped.ts";
export { type AuditedOptions, audited } from "./history/audited.ts";
export { DefinitionError } from "./kit/definition-error.ts";
export { type ErrorCode, errorCodes } from "./kit/error-codes.ts";
export { requireRow } from "./kit/require-row.ts";
export { type RetryOptions, withRetry } from "./kit/retry.ts";
export type { Session, SessionUser } from "./kit/session.ts";
export { type Issue, SvcError, type SvcErrorOptions } from "./kit/svc-error.ts";
export { type Infer, v } from "./kit/v.ts";
export { createOrganizations, type OrganizationRole } from "./organizations/create-organizations.ts";
export { isConflict } from "./postgres/errors.ts";
export type { IngestFileResult } from "./rag/ingest-workflow.ts";
export { type SearchableOptions, searchable } from "./search/searchable.ts";
export { type EndpointsOptions, type WebhookOptions, webhook } from "./webhooks/webhook.ts";
export type { WorkflowProcedures } from "./workflows/procedures.ts";
export { deriveWorkflowStatus } from "./workflows/status.ts";
