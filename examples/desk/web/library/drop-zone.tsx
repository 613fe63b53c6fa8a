/** Where files are dropped, or chosen with the keyboard or a finger. */
import { type ChangeEvent, type DragEvent, useState } from "react";

const accepted = ".pdf,.hwp,.hwpx,.hml,.docx,.xlsx,.txt,.md,.html,.csv";

export function DropZone({ isBusy, onFiles }: { isBusy: boolean; onFiles: (files: File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const choose = ({ currentTarget }: ChangeEvent<HTMLInputElement>) => {
    onFiles([...(currentTarget.files ?? [])]);
    currentTarget.value = ""; // the same file again is a change, too
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFiles([...event.dataTransfer.files]);
  };
  const over = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  return (
    <label className="drop" data-over={isOver} onDrop={drop} onDragOver={over} onDragLeave={() => setOver(false)}>
      <svg aria-hidden="true" viewBox="0 0 24 24">
        <path d="M12 16V5m-4.5 4L12 4.5 16.5 9M5 15v4h14v-4" />
      </svg>
      <span>
        <strong>{isBusy ? "Uploading…" : "Drop documents here, or choose some"}</strong>
        <small>PDF, HWP, DOCX, XLSX, Markdown, text, HTML or CSV</small>
      </span>
      <input type="file" className="unseen" multiple accept={accepted} aria-label="Add documents" onChange={choose} />
    </label>
  );
}
