/** A button for what cannot be undone: the first press asks, the second one does it. Leaving it takes the question back. */
import { useState } from "react";

interface Props {
  label: string;
  question: string;
  onConfirm: () => void;
  describedBy?: string;
  disabled?: boolean;
}

export function ConfirmButton({ label, question, onConfirm, describedBy, disabled }: Props) {
  const [asking, setAsking] = useState(false);
  const press = () => {
    setAsking(!asking);
    if (asking) onConfirm();
  };
  return (
    <button
      type="button"
      className={asking ? "quiet asking" : "quiet"}
      aria-describedby={describedBy}
      disabled={disabled}
      onClick={press}
      onBlur={() => setAsking(false)}
      onKeyDown={({ key }) => key === "Escape" && setAsking(false)}
    >
      {asking ? question : label}
    </button>
  );
}
