/**
 * Notices that the other side of a socket has vanished. A lost network, as of a laptop that was closed, ends no socket, and
 * a browser does not show the service's pings to the page: without this it would call itself live for minutes.
 * Called by `connection.ts`.
 */

/** In milliseconds. */
export interface Patience {
  /** Without a frame for this long, one is asked for. */
  quietMs: number;
  /** The socket is lost if none comes within this time. */
  answerMs: number;
}
const usual: Patience = { quietMs: 25_000, answerMs: 10_000 };

export interface Liveness {
  /** A frame came. */
  heard(): void;
  stop(): void;
}

/** Begins at once: a network can vanish while the socket opens. */
export function watchLiveness(ask: () => void, lost: () => void, { quietMs, answerMs } = usual): Liveness {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => clearTimeout(timer);
  const heard = () => {
    stop();
    timer = setTimeout(() => {
      ask();
      timer = setTimeout(lost, answerMs);
    }, quietMs);
  };
  heard();
  return { heard, stop };
}
