/**
 * The sections of the desk, in the order of the navigation. A new one is an entry here and a panel: a `<section className="card">`
 * with an `<h2>`.
 * Next hop: `navigation.tsx` links them, `app.tsx` shows the one that the address names.
 */
import type { User } from "@svc/client";
import type { ComponentType, ReactNode } from "react";
import { useSyncExternalStore } from "react";
import { BoardPanel } from "./board/board-panel.tsx";
import { DocsPanel } from "./docs/docs-panel.tsx";
import { ExpensesPanel } from "./expenses/expenses-panel.tsx";
import { LibraryPanel } from "./library/library-panel.tsx";
import { LivePanel } from "./live/live-panel.tsx";
import { TasksPanel } from "./tasks/tasks-panel.tsx";

/** What every section has: its place in the address (`#/tasks`), its word, and the lines of its mark, 24 by 24. */
interface Entry {
  id: string;
  name: string;
  icon: ReactNode;
}
/** Shown to everybody. */
interface OpenSection extends Entry {
  Panel: ComponentType<{ user: User | null }>;
  isPrivate?: false;
}
/** Shown to signed-in users; others are asked to sign in. */
interface PrivateSection extends Entry {
  Panel: ComponentType<{ user: User }>;
  isPrivate: true;
}
export type Section = OpenSection | PrivateSection;

const live: Section = {
  id: "live",
  name: "Live",
  icon: <path d="M4 5h7v14H4zM13 5h7v14h-7zM6.5 9h2M15.5 9h2M6.5 13h2M15.5 13h2" />,
  Panel: LivePanel,
};

export const sections: readonly Section[] = [
  live,
  {
    id: "tasks",
    name: "Tasks",
    icon: <path d="M4 6.5 5.5 8 8 5M4 12.5 5.5 14 8 11M4 18.5 5.5 20 8 17M12 6.5h8M12 12.5h8M12 18.5h8" />,
    isPrivate: true,
    Panel: TasksPanel,
  },
  {
    id: "board",
    name: "Board",
    icon: <path d="M5 4h14v11l-5 5H5zM14 20v-5h5M8.5 8.5h7M8.5 12h4" />,
    Panel: BoardPanel,
  },
  {
    id: "docs",
    name: "Docs",
    icon: <path d="M12 6.5C10 5 7 4.5 4 5v13.5c3-.5 6 0 8 1.5 2-1.5 5-2 8-1.5V5c-3-.5-6 0-8 1.5zm0 0V20" />,
    Panel: DocsPanel,
  },
  {
    id: "library",
    name: "Library",
    icon: <path d="M5 4v16M9 4v16M13 4.5 17.5 4l2 15.5-4.5.5zM4 20h6" />,
    isPrivate: true,
    Panel: LibraryPanel,
  },
  {
    id: "expenses",
    name: "Expenses",
    icon: <path d="M6 3.5h12V20l-2-1.5L14 20l-2-1.5L10 20l-2-1.5L6 20zM9 8h6M9 12h6" />,
    isPrivate: true,
    Panel: ExpensesPanel,
  },
];

const read = () => location.hash;

function subscribe(listener: () => void) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** The section that the address names, or the first one: reload and the back button work. */
export function useSection(): Section {
  const hash = useSyncExternalStore(subscribe, read);
  return sections.find(({ id }) => hash === `#/${id}`) ?? live;
}
