/** What the filters above the list ask for, and what that is as arguments of the generated list. */
import type { InputOf, OutputOf } from "@svc/client";
import type { api } from "../svc/api.ts";

export type TaskPage = OutputOf<typeof api.tasks.list>;
export type Task = TaskPage["data"][number];
type ListArgs = NonNullable<InputOf<typeof api.tasks.list>>;

export interface Wanted {
  search: string;
  show: "all" | "open" | "done";
  /** As the select has it; "" is any. */
  priority: "" | "0" | "1" | "2";
  order: "createdAt" | "priority" | "title";
}

export const everything: Wanted = { search: "", show: "all", priority: "", order: "createdAt" };

/** The priorities that this page names. The table takes any whole number. */
export const priorities = ["Normal", "High", "Urgent"] as const;

export const isFiltered = ({ search, show, priority }: Wanted) =>
  search.trim() !== "" || show !== "all" || priority !== "";

export function toArgs({ search, show, priority, order }: Wanted, page: number, limit: number): ListArgs {
  const filters = {
    ...(show !== "all" && { done: show === "done" }),
    ...(priority !== "" && { priority: Number(priority) }),
  };
  return {
    page,
    limit,
    ...(search.trim() && { search: search.trim() }),
    ...(Object.keys(filters).length > 0 && { filters }),
    ...(order !== "createdAt" && { orderBy: order, orderDir: order === "title" ? "asc" : "desc" }),
  };
}

/** Whether a new task would be the first row of this list: it is shown there before the service has answered. */
export const wouldLead = (wanted: Wanted, page: number) =>
  page === 1 && wanted.order === "createdAt" && !isFiltered(wanted);
