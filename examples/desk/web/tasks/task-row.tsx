/** One task: tick, priority, rename in place, remove. */
import { useRef, useState } from "react";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { RenameTask } from "./rename-task.tsx";
import { isNew, useUpdateTask } from "./use-task-changes.ts";
import { priorities, type Task } from "./wanted.ts";

interface Props {
  task: Task;
  /** @param next where the focus goes, now that the row is gone */
  onRemove: (next: HTMLElement | null) => void;
}

export function TaskRow({ task, onRemove }: Props) {
  const update = useUpdateTask();
  const [renaming, setRenaming] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const name = `task-${task.id}`;
  const waits = isNew(task);

  /** One change after the other: the last one made must be the last one stored. */
  const change = (changes: Partial<Pick<Task, "title" | "done" | "priority">>) => {
    if (!waits && !update.isPending) update.mutate({ id: task.id, ...changes });
  };
  const stopRenaming = (title?: string) => {
    setRenaming(false);
    if (title !== undefined && title !== task.title) change({ title });
    requestAnimationFrame(() => opener.current?.focus());
  };
  const remove = () => {
    const neighbour = row.current?.nextElementSibling ?? row.current?.previousElementSibling;
    onRemove(neighbour?.querySelector("input") ?? null);
  };

  return (
    <li ref={row} className="task" data-done={task.done} aria-busy={waits || update.isPending}>
      <label className="tick">
        <input
          type="checkbox"
          checked={task.done}
          disabled={waits}
          aria-label={task.title}
          onChange={({ target }) => change({ done: target.checked })}
        />
        {!renaming && <span id={name}>{task.title}</span>}
      </label>
      {renaming ? (
        <RenameTask title={task.title} onDone={stopRenaming} />
      ) : (
        <div className="actions">
          <select
            className="quiet"
            aria-label="Priority"
            aria-describedby={name}
            data-priority={task.priority}
            disabled={waits}
            value={task.priority}
            onChange={({ target }) => change({ priority: Number(target.value) })}
          >
            {priorities.map((word, value) => (
              <option key={word} value={value}>
                {word}
              </option>
            ))}
            {!priorities[task.priority] && <option value={task.priority}>Priority {task.priority}</option>}
          </select>
          <button
            ref={opener}
            type="button"
            className="quiet"
            aria-describedby={name}
            disabled={waits}
            onClick={() => setRenaming(true)}
          >
            Rename
          </button>
          <ConfirmButton label="Remove" question="Remove it?" describedBy={name} disabled={waits} onConfirm={remove} />
        </div>
      )}
    </li>
  );
}
