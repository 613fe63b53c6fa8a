/**
 * `useMutation`: calls a mutation, optionally shows its effect at once, and undoes that if the mutation fails.
 * Next hop: `cache.ts`.
 */
"use client";

import { type InputOf, type Mutation, type OutputOf, type Query, SvcError } from "@svc/client";
import { type UseMutationResult, useQueryClient, useMutation as useTanStackMutation } from "@tanstack/react-query";
import { type OptimisticCache, OptimisticChange } from "./cache.ts";
import { useSvcClient } from "./client-context.ts";
import { resourceOf } from "./query-key.ts";
import { useCaller } from "./use-auth.ts";

export interface UseMutationOptions<M extends Mutation> {
  /** Changes cached results at once; undone if the mutation fails. */
  optimistic?: ((cache: OptimisticCache, args: InputOf<M>) => void) | undefined;
  /** Retries, if there was no answer or the service is busy. The call is saved once: see `client.mutate`. (Default: 0) */
  retries?: number | undefined;
  /** Queries to fetch again afterwards. (Default: those of the same resource, `tasks.*` for `tasks.create`) */
  invalidates?: readonly Query[] | undefined;
  onSuccess?: ((result: OutputOf<M>, args: InputOf<M>) => void) | undefined;
  onError?: ((error: Error, args: InputOf<M>) => void) | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: an argument may be left out only if its type has void
type Nothing = void;
/** As unknown, which swallows the other members of a union. */
type Anything = NonNullable<unknown> | null | undefined;
/** `mutate` needs no argument where the mutation takes none. */
type Variables<M extends Mutation> =
  unknown extends InputOf<M> ? Anything | Nothing : undefined extends InputOf<M> ? InputOf<M> | Nothing : InputOf<M>;

/** The user of each call: TanStack Query holds calls back while offline, and another user may sign in. */
const callers = new WeakMap<object, string>();

/**
 * A mutation to be called from event handlers.
 *
 * @example
 * const finish = useMutation(api.tasks.update, {
 *   optimistic: (cache, { id, done }) => cache.updateAll(api.tasks.list, (page) => ({
 *     ...page, data: page.data.map((task) => (task.id === id ? { ...task, done: done ?? task.done } : task)) })),
 * });
 * finish.mutate({ id: 7, done: true });
 */
export function useMutation<M extends Mutation>(
  operation: M,
  options: UseMutationOptions<M> = {},
): UseMutationResult<OutputOf<M>, Error, Variables<M>, OptimisticChange | undefined> {
  const client = useSvcClient();
  const queries = useQueryClient();
  const user = useCaller();
  const { optimistic, retries, invalidates, onSuccess, onError } = options;

  return useTanStackMutation<OutputOf<M>, Error, Variables<M>, OptimisticChange | undefined>({
    async mutationFn(args, call) {
      const caller = callers.get(call);
      if (caller !== undefined && client.auth?.getState().user?.id !== caller) {
        throw new SvcError("UNAUTHORIZED", "The user who did this is no longer signed in.", {
          hint: "Nothing was saved. Sign in as that user, and do it again.",
        });
      }
      return client.mutate(operation, args as never, { retries }) as Promise<OutputOf<M>>;
    },
    onMutate(args, call) {
      const caller = client.auth?.getState().user?.id;
      if (caller !== undefined) callers.set(call, caller);
      if (!optimistic) return undefined;
      const change = new OptimisticChange(queries, user);
      try {
        optimistic(change, args as InputOf<M>);
      } catch (error) {
        change.takeBack();
        throw error;
      }
      return change;
    },
    onSuccess(result, args, change) {
      change?.keep();
      return onSuccess?.(result, args as InputOf<M>);
    },
    onError(error, args, change) {
      change?.takeBack();
      return onError?.(error, args as InputOf<M>);
    },
    onSettled() {
      const resource = resourceOf(operation);
      const isStale = (name: string) =>
        invalidates ? invalidates.some((query) => query.name === name) : name.startsWith(resource);
      return queries.invalidateQueries({
        predicate: ({ queryKey: [origin, , name] }) => origin === "svc" && isStale(String(name)),
      });
    },
  });
}
