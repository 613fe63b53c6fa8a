/** One line to ask or to state something in. Next hop: `answer.tsx` shows what came of it. */
import type { FormEvent } from "react";

interface Props {
  /** What is asked, for screen readers. */
  label: string;
  placeholder: string;
  onAsk: (text: string) => void;
}

export function AskForm({ label, placeholder, onAsk }: Props) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onAsk(String(new FormData(event.currentTarget).get("text")).trim());
  };
  return (
    <form className="ask" onSubmit={submit}>
      <input
        name="text"
        type="search"
        aria-label={label}
        placeholder={placeholder}
        required
        pattern=".*\S.*"
        maxLength={500}
        autoComplete="off"
      />
      <button type="submit">Ask</button>
    </form>
  );
}
