/** Which of the three sections a narrow screen shows, kept in the address: reload and the back button work. */
import { useSyncExternalStore } from "react";

export type View = "mine" | "board" | "docs";

function read(): View {
  if (location.hash === "#/board") return "board";
  return location.hash === "#/docs" ? "docs" : "mine";
}

function subscribe(listener: () => void) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

export const useView = () => useSyncExternalStore(subscribe, read);
