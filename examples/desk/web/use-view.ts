/** Which of the two sections a narrow screen shows, kept in the address: reload and the back button work. */
import { useSyncExternalStore } from "react";

export type View = "mine" | "board";

const read = (): View => (location.hash === "#/board" ? "board" : "mine");

function subscribe(listener: () => void) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

export const useView = () => useSyncExternalStore(subscribe, read);
