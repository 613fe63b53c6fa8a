/** The whole state of the page is in its address, so a link shows the same to the next person. */

export type State = Readonly<Record<string, string>>;

export const state = (): State => Object.fromEntries(new URLSearchParams(location.search));

/** The address with changes; null removes a part. */
export function href(changes: Record<string, string | null>): string {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) search.delete(name);
    else search.set(name, value);
  }
  return `/?${search}`;
}

/** An address without what is in this one. */
export const fresh = (parts: Record<string, string>): string => `/?${new URLSearchParams(parts)}`;

const listeners: (() => void)[] = [];
export const onChange = (listener: () => void): void => void listeners.push(listener);
const tell = () => {
  for (const listener of listeners) listener();
};

export function go(address: string): void {
  // The same place, shown anew, is no step of the way back.
  if (address !== location.pathname + location.search) history.pushState(null, "", address);
  tell();
}

/** Links of the page are followed without loading it anew. */
export function followLinks(): void {
  addEventListener("popstate", tell);
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.origin !== location.origin || event.metaKey || event.ctrlKey || event.shiftKey || event.button)
      return;
    event.preventDefault();
    if (link.hash) return document.querySelector<HTMLElement>(`${link.hash} h1`)?.focus(); // the skip link
    go(link.pathname + link.search);
  });
}
