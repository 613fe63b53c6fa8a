/** The public surface of @svc/client. What is not exported here is internal. */
export {
  type AggregateInput,
  type AggregateOutput,
  type AggregateQuery,
  type AggregateQueryOf,
  aggregateQuery,
  type GroupBy,
  type Measures,
} from "./aggregate.ts";
export { type AuthClient, type AuthClientOptions, createAuthClient } from "./auth/create-auth-client.ts";
export { addPasskey, type Passkey, signInWithPasskey } from "./auth/passkeys.ts";
export type { AuthState, User } from "./auth/state.ts";
export { type LaterStorage, loadStorage, type SessionStorage } from "./auth/storage.ts";
export type { ArgumentsOf, Plain } from "./call-arguments.ts";
export { joinChannel } from "./channel.ts";
export {
  type ChannelListener,
  type ChannelMember,
  type ChannelMessage,
  type ChannelOf,
  type ChannelOptions,
  type ChannelRef,
  type ChannelSender,
  type ChannelState,
  channel,
  type JoinedChannel,
  type MessageOf,
  type Stored,
} from "./channel-types.ts";
export { createSvcClient } from "./client.ts";
export { type ClientErrorCode, type Issue, SvcError, type SvcErrorCode, type SvcErrorDetails } from "./error.ts";
export { operationKey } from "./key.ts";
export {
  type InputOf,
  type Mutation,
  type MutationOf,
  mutation,
  type Operation,
  type Operations,
  type OutputOf,
  type Query,
  type QueryOf,
  query,
} from "./operation.ts";
export type { RealtimeStatus } from "./realtime/connection.ts";
export {
  type FiltersOf,
  type IncludeOf,
  type Many,
  type One,
  type OnlyKnown,
  type Resource,
  type ResourceInput,
  type ResourceOutput,
  type ResourceQuery,
  type ResourceQueryOf,
  type RowIn,
  resourceQuery,
  type SelectOf,
} from "./related.ts";
export type { Conversions } from "./rows.ts";
export type { CallOptions, MutationOptions, QueryOptions, SvcClient, SvcClientOptions } from "./svc-client.ts";
export type { UploadOptions, UploadProgress } from "./upload.ts";
