/**
 * "My tasks": one page of the list as the filters want it, followed as it changes.
 * Next hop: `wanted.ts` for what is asked, `use-task-changes.ts` for what is changed.
 */
import type { User } from "@svc/client";
import { useQuery } from "@svc/react";
import { useRef, useState } from "react";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Pager } from "../parts/pager.tsx";
import { usePage } from "../parts/use-page.ts";
import { useSettled } from "../parts/use-settled.ts";
import { api } from "../svc/api.ts";
import { NewTask } from "./new-task.tsx";
import { TaskFilters } from "./task-filters.tsx";
import { TaskList } from "./task-list.tsx";
import { useAddTask, useFinishAll } from "./use-task-changes.ts";
import { everything, isFiltered, toArgs, type Wanted } from "./wanted.ts";

const limit = 10;

export function TasksPanel({ user }: { user: User }) {
  const [filters, setFilters] = useState<Wanted>(everything);
  const wanted = { ...filters, search: useSettled(filters.search) };
  const [total, setTotal] = useState<number>();
  const [page, turn] = usePage(limit, total);
  const heading = useRef<HTMLHeadingElement>(null);

  // The rows of before stay until the new ones are there. The panel is one user's, and so are they.
  const list = useQuery(api.tasks.list, toArgs(wanted, page, limit), { placeholderData: (before) => before });
  if (list.data && list.data.total !== total) setTotal(list.data.total);

  // One row is asked for; what counts is the total.
  const open = useQuery(api.tasks.list, { filters: { done: false }, limit: 1 });
  const add = useAddTask({ wanted, page, limit, userId: user.id });
  const finishAll = useFinishAll();

  const filter = (changes: Partial<Wanted>) => {
    setFilters({ ...filters, ...changes });
    turn(1);
  };
  return (
    <section className="card" aria-labelledby="tasks-title">
      <div className="bar">
        <h2 id="tasks-title" ref={heading} tabIndex={-1}>
          My tasks
        </h2>
        {open.data && <span className="count">{open.data.total} open</span>}
        {!!open.data?.total && (
          <ConfirmButton label="Finish all" question="Finish them all?" onConfirm={() => finishAll.mutate()} />
        )}
      </div>
      <NewTask add={add} />
      <TaskFilters wanted={filters} onChange={filter} />
      <TaskList list={list} filtered={isFiltered(wanted)} heading={heading} />
      <Pager of="tasks" page={page} limit={limit} total={list.data?.total ?? 0} onTurn={turn} />
    </section>
  );
}
