/** The title of a task while it is being changed. Enter saves, Escape leaves it as it was. */
import type { FormEvent } from "react";

interface Props {
  title: string;
  /** @param title undefined when nothing is to be changed */
  onDone: (title?: string) => void;
}

export function RenameTask({ title, onDone }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onDone(String(new FormData(event.currentTarget).get("title")).trim());
  };
  return (
    <form className="rename" onSubmit={submit} onKeyDown={({ key }) => key === "Escape" && onDone()}>
      <input
        ref={(field) => field?.select()}
        name="title"
        aria-label="Title"
        defaultValue={title}
        required
        pattern=".*\S.*"
        maxLength={200}
        autoComplete="off"
      />
      <button type="submit">Save</button>
      <button type="button" className="quiet" onClick={() => onDone()}>
        Cancel
      </button>
    </form>
  );
}
