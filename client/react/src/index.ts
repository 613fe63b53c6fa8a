/** The public surface of @svc/react. What is not exported here is internal. */
export type { OptimisticCache } from "./cache.ts";
export { useSvcClient } from "./client-context.ts";
export { SvcProvider, type SvcProviderProps } from "./provider.ts";
export { queryOptions } from "./query-options.ts";
export { useAuth } from "./use-auth.ts";
export { type UseChannelOptions, type UseChannelResult, useChannel } from "./use-channel.ts";
export { type PagedQuery, useInfiniteQuery } from "./use-infinite-query.ts";
export { type UseMutationOptions, useMutation } from "./use-mutation.ts";
export { skip, type UseQueryOptions, useQuery, useSuspenseQuery } from "./use-query.ts";
export { useRealtimeStatus } from "./use-realtime-status.ts";
export { type UploadState, type UseUploadOptions, type UseUploadResult, useUpload } from "./use-upload.ts";
export { useWorkflow, type WorkflowView } from "./use-workflow.ts";
