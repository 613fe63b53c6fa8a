/**
 * Every change that can be made to tasks. Each is shown at once, in all pages that are kept, and taken back when the
 * service refuses it; then it says why.
 */
import { type OptimisticCache, useMutation } from "@svc/react";
import { useAnnounce } from "../parts/announcer.tsx";
import { api } from "../svc/api.ts";
import { type Task, toArgs, type Wanted, wouldLead } from "./wanted.ts";

/** Rows that the service has not numbered yet have ids below zero. */
let unnumbered = 0;
export const isNew = (task: Task) => task.id < 0;

/** Changes the rows of every kept page. */
function eachTask(cache: OptimisticCache, change: (task: Task) => Task) {
  cache.updateAll(api.tasks.list, (page) => ({ ...page, data: page.data.map(change) }));
}

/** Adds a task on top of the list that is shown, if that is where it belongs. */
export function useAddTask(shown: { wanted: Wanted; page: number; limit: number; userId: string }) {
  const { wanted, page, limit, userId } = shown;
  const announce = useAnnounce();
  return useMutation(api.tasks.create, {
    optimistic(cache, { title, priority = 0 }) {
      if (!wouldLead(wanted, page)) return;
      const now = new Date();
      const row: Task = { id: --unnumbered, userId, title, priority, done: false, createdAt: now, updatedAt: now };
      cache.update(api.tasks.list, toArgs(wanted, page, limit), ({ data, total, ...rest }) => ({
        ...rest,
        data: [row, ...data].slice(0, limit),
        total: total + 1,
      }));
    },
    onSuccess: (_row, { title }) => announce(`Added “${title}”.`),
  });
}

/** Ticks, renames, changes the priority. */
export function useUpdateTask() {
  const announce = useAnnounce();
  return useMutation(api.tasks.update, {
    optimistic: (cache, { id, ...changes }) =>
      eachTask(cache, (task) => (task.id === id ? ({ ...task, ...changes } as Task) : task)),
    onError: announce,
  });
}

export function useRemoveTask() {
  const announce = useAnnounce();
  return useMutation(api.tasks.remove, {
    optimistic: (cache, { id }) =>
      cache.updateAll(api.tasks.list, (page) => {
        const data = page.data.filter((task) => task.id !== id);
        return { ...page, data, total: page.total - (page.data.length - data.length) };
      }),
    onError: announce,
  });
}

/** Ticks off everything, as one transaction of the service. */
export function useFinishAll() {
  const announce = useAnnounce();
  return useMutation(api.tasks.finishAll, {
    optimistic: (cache) => eachTask(cache, (task) => ({ ...task, done: true })),
    onSuccess: ({ finished }) => announce(finished === 1 ? "Finished 1 task." : `Finished ${finished} tasks.`),
    onError: announce,
  });
}

/** Has the task come up again later: a job of the service, which raises its priority. */
export function useRemind() {
  const announce = useAnnounce();
  return useMutation(api.tasks.remind, {
    onSuccess: () => announce("It will come up again in an hour."),
    onError: announce,
  });
}
