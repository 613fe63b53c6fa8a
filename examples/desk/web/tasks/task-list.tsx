/** The rows, or what there is to say while there are none: loading, failed, empty. */
import type { useQuery } from "@svc/react";
import type { RefObject } from "react";
import { Empty } from "../parts/empty.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import type { api } from "../svc/api.ts";
import { TaskRow } from "./task-row.tsx";
import { useRemoveTask } from "./use-task-changes.ts";

interface Props {
  list: ReturnType<typeof useQuery<typeof api.tasks.list>>;
  filtered: boolean;
  /** Gets the focus when the last row goes. */
  heading: RefObject<HTMLElement | null>;
}

export function TaskList({ list, filtered, heading }: Props) {
  // Here and not in the row, which is gone at once: a failure must still be told.
  const remove = useRemoveTask();
  const { data, error, isPending, isPlaceholderData, refetch } = list;
  if (isPending) return <Skeleton rows={4} />;
  // With rows at hand, a service that does not answer is what the status light says.
  if (!data) return error && <Problem error={error} retry={refetch} />;
  if (data.data.length === 0) {
    return filtered ? (
      <Empty title="No task is like that." />
    ) : (
      <Empty title="Nothing to do yet.">Add your first task above.</Empty>
    );
  }
  return (
    <ul className="rows" aria-labelledby="tasks-title" aria-busy={isPlaceholderData}>
      {data.data.map((task) => (
        <TaskRow
          key={task.id}
          task={task}
          onRemove={(next) => {
            (next ?? heading.current)?.focus();
            remove.mutate({ id: task.id });
          }}
        />
      ))}
    </ul>
  );
}
