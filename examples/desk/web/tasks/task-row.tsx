/** One task: tick, priority, rename in place, remove. */
import { useRef, useState } from "react";
import { ConfirmButton } from "../parts/confirm-button.tsx";
import { Attachments } from "./attachments.tsx";
import { RenameTask } from "./rename-task.tsx";
import { isNew, useRemind, useUpdateTask } from "./use-task-changes.ts";
import { priorities, type Task } from "./wanted.ts";

interface Props {
  task: Task;
  /** @param next where the focus goes, now that the row is gone */
  onRemove: (next: HTMLElement | null) => void;
}

export function TaskRow({ task, onRemove }: Props) {
  // One each: a change of the title need not wait for a tick, but a second tick for the first. The last must be stored last.
  const [tick, rank, rename] = [useUpdateTask(), useUpdateTask(), useUpdateTask()];
  const remind = useRemind();
  const [renaming, setRenaming] = useState(false);
  const [showsFiles, setShowsFiles] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const name = `task-${task.id}`;
  const waits = isNew(task);
  const busy = waits || tick.isPending || rank.isPending || rename.isPending;

  const stopRenaming = (title?: string) => {
    setRenaming(false);
    if (title !== undefined && title !== task.title) rename.mutate({ id: task.id, title });
    requestAnimationFrame(() => opener.current?.focus());
  };
  const remove = () => {
    const neighbour = row.current?.nextElementSibling ?? row.current?.previousElementSibling;
    onRemove(neighbour?.querySelector("input") ?? null);
  };

  return (
    <li ref={row} className="task" data-done={task.done} aria-busy={busy}>
      <label className="tick">
        <input
          type="checkbox"
          checked={task.done}
          disabled={waits}
          aria-label={task.title}
          onChange={({ target }) => tick.isPending || tick.mutate({ id: task.id, done: target.checked })}
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
            onChange={({ target }) => rank.isPending || rank.mutate({ id: task.id, priority: Number(target.value) })}
          >
            {priorities.map((word, value) => (
              <option key={word} value={value}>
                {word}
              </option>
            ))}
            {!priorities[task.priority] && <option value={task.priority}>Priority {task.priority}</option>}
          </select>
          <button
            type="button"
            className="quiet"
            aria-describedby={name}
            aria-expanded={showsFiles}
            disabled={waits}
            onClick={() => setShowsFiles(!showsFiles)}
          >
            Files
          </button>
          {!task.done && (
            <button
              type="button"
              className="quiet"
              aria-describedby={name}
              disabled={waits}
              onClick={() => remind.isPending || remind.mutate({ id: task.id, minutes: 60 })}
            >
              Remind
            </button>
          )}
          <button
            ref={opener}
            type="button"
            className="quiet"
            aria-describedby={name}
            disabled={waits}
            aria-disabled={rename.isPending}
            onClick={() => setRenaming(!rename.isPending)}
          >
            Rename
          </button>
          <ConfirmButton label="Remove" question="Remove?" describedBy={name} disabled={waits} onConfirm={remove} />
        </div>
      )}
      {showsFiles && <Attachments taskId={task.id} title={task.title} />}
    </li>
  );
}
