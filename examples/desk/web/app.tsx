/**
 * Who sees what: board and documentation are everybody's, tasks are for whoever is signed in. Wide screens show all,
 * narrow ones the one that the address names.
 * Next hop: `tasks/tasks-panel.tsx`, `board/board-panel.tsx`, `docs/docs-panel.tsx`, `entrance.tsx`.
 */
import { useAuth } from "@svc/react";
import { BoardPanel } from "./board/board-panel.tsx";
import { DocsPanel } from "./docs/docs-panel.tsx";
import { Entrance } from "./entrance.tsx";
import { Header } from "./header.tsx";
import { TasksPanel } from "./tasks/tasks-panel.tsx";
import { useView } from "./use-view.ts";

export function App() {
  const { user } = useAuth();
  const view = useView();
  // The keys: whatever a panel still holds of one person, the next one gets a new panel.
  return (
    <>
      <Header view={view} />
      <main data-view={view}>
        {user ? <TasksPanel key={`tasks of ${user.id}`} user={user} /> : <Entrance />}
        <BoardPanel key={`board of ${user?.id}`} user={user} />
        <DocsPanel key={`docs of ${user?.id}`} user={user} />
      </main>
    </>
  );
}
