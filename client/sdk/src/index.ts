/** The public surface of @svc/client. What is not exported here is internal. */
export { type AuthClient, type AuthClientOptions, createAuthClient } from "./auth/create-auth-client.ts";
export type { AuthState, User } from "./auth/state.ts";
export {
  type CallOptions,
  createSvcClient,
  type QueryOptions,
  type SvcClient,
  type SvcClientOptions,
} from "./client.ts";
export { type ClientErrorCode, type Issue, SvcError, type SvcErrorCode, type SvcErrorDetails } from "./error.ts";
export { operationKey } from "./key.ts";
export {
  type FiltersOf,
  type InputOf,
  type Mutation,
  mutation,
  type Operation,
  type Operations,
  type OutputOf,
  type Query,
  query,
  type RowIn,
  resourceQuery,
} from "./operation.ts";
export type { RealtimeStatus } from "./realtime/connection.ts";
export type {
  IncludeOf,
  Many,
  One,
  Resource,
  ResourceInput,
  ResourceOutput,
  ResourceQuery,
  SelectOf,
} from "./related.ts";
export type { Conversions } from "./rows.ts";
export type { UploadOptions, UploadProgress } from "./upload.ts";
