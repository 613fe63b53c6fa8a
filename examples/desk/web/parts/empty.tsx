/** What a list says when it has no rows: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: string }) {
  return (
    <div className="empty" role="status">
      <svg aria-hidden="true" viewBox="0 0 48 32">
        <path d="M8 20 14 6h20l6 14v8H8z" />
        <path d="M8 20h10l2 4h8l2-4h10" />
      </svg>
      <strong>{title}</strong>
      {children && <span>{children}</span>}
    </div>
  );
}
