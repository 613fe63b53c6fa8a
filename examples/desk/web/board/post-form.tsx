/** Title and text of a post, new or being changed. */
import type { FormEvent, ReactNode } from "react";
import { Problem } from "../parts/problem.tsx";

export interface PostFields {
  title: string;
  body: string;
}

interface Props {
  start?: PostFields;
  submit: string;
  busy: boolean;
  error: Error | null;
  onSubmit: (fields: PostFields) => void;
  /** Further buttons. */
  children?: ReactNode;
}

export function PostForm({ start, submit, busy, error, onSubmit, children }: Props) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const fields = new FormData(event.currentTarget);
    onSubmit({ title: String(fields.get("title")).trim(), body: String(fields.get("body")).trim() });
  };
  return (
    <form className="form" onSubmit={send} aria-busy={busy}>
      <label>
        Title
        <input name="title" required pattern=".*\S.*" maxLength={200} autoComplete="off" defaultValue={start?.title} />
      </label>
      <label>
        Text
        <textarea name="body" rows={4} maxLength={5000} defaultValue={start?.body} />
      </label>
      {error && <Problem error={error} />}
      <div className="actions">
        <button type="submit">{busy ? "One moment…" : submit}</button>
        {children}
      </div>
    </form>
  );
}
