/** The form that adds a task. What was typed stays there when the service refuses it. */
import { type FormEvent, useRef } from "react";
import { Problem } from "../parts/problem.tsx";
import type { useAddTask } from "./use-task-changes.ts";
import { priorities } from "./wanted.ts";

export function NewTask({ add }: { add: ReturnType<typeof useAddTask> }) {
  const title = useRef<HTMLInputElement>(null);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const typed = String(fields.get("title"));
    form.reset();
    title.current?.focus();
    const giveBack = () => {
      if (title.current?.value === "") title.current.value = typed;
    };
    add.mutate({ title: typed.trim(), priority: Number(fields.get("priority")) }, { onError: giveBack });
  }

  return (
    <form className="new-task" onSubmit={submit}>
      <input
        ref={title}
        name="title"
        aria-label="New task"
        placeholder="What has to be done?"
        required
        pattern=".*\S.*"
        maxLength={200}
        autoComplete="off"
      />
      <select name="priority" aria-label="Priority of the new task">
        {priorities.map((name, value) => (
          <option key={name} value={value}>
            {name}
          </option>
        ))}
      </select>
      <button type="submit">Add</button>
      {add.error && <Problem error={add.error} />}
    </form>
  );
}
