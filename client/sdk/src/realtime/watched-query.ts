/**
 * A query that is watched: one fetch and one subscription for all who watch it with the same arguments. It never misses a change,
 * and does not ask again for one that it has seen: an answer says which transactions it saw, an event which one it is about.
 * Next hop: `connection.ts` brings events, `snapshot.ts` compares.
 */
import { userChanged } from "../authorized.ts";
import { abort, abortError, passes, throwIfAborted } from "../patience.ts";
import { Snapshot } from "./snapshot.ts";
import type { Asking, Seen, WatchedQueryOptions, Watcher } from "./watching.ts";

/** A request under way, with its tries. */
interface Attempt {
  request: AbortController;
  answer: Promise<unknown>;
  /** Its answer has come, and is being shown: nothing newer can be asked for. */
  isAnswered: boolean;
  /** What had come before it began. */
  asked: Included[];
}

/** Whether a snapshot has what came. @param asked whether the answer was asked for after that */
type Included = (seen: Snapshot, asked: boolean) => boolean;

/** In milliseconds: changes that come together are asked for together. */
const debounce = 25;
/** The longest such wait for a query that follows tables: it doubles while changes come without a pause. */
const longestDebounce = 1_000;
/** How long it is kept when nobody watches. */
const lingering = 500;
/** How long a request continues when nobody is interested: a component that takes the place of another may be. */
const abandoned = 50;
/** How often is asked while changes may not arrive: what is shown is then never five seconds old. */
const pollEvery = 4_000;
/** After a fetch that failed for a while: the first wait, doubled each time, and the longest. */
const firstRetry = 500;
const longestRetry = 30_000;

export class WatchedQuery {
  readonly #options: WatchedQueryOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #stopFollowing: () => void;
  #last: { result: unknown } | undefined;
  #snapshot: Snapshot | null = null;
  #attempt: Attempt | undefined;
  /** How many wait for an answer without watching. */
  #waiting = 0;
  /** What came since the last request began. */
  #meanwhile: Included[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #follows = false;
  #wait = debounce;
  /** When the last answer came. */
  #answered = 0;
  #poll: ReturnType<typeof setInterval> | undefined;
  /** Fetches that failed, since one did not, and when the next is tried. */
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #isRefused = false;
  #ended = false;
  constructor(options: WatchedQueryOptions) {
    this.#options = options;
    const { connection, key } = options;
    this.#stopFollowing = connection.subscribe(() => this.#pollUnlessLive());
    connection.listen(key, {
      subscribed: (before, isGap) => {
        // A gap is told to all who listen, also to those that were refused.
        if (!isGap) this.#pollUnlessLive(false);
        if (before === undefined) this.#meanwhile = []; // also of a history that a failover has ended
        // Of transactions below it that still run, events will come.
        this.#changed((seen, asked) => asked || (before !== undefined && seen.seesAllBelow(before)));
      },
      changed: (xid) => this.#changed((seen) => seen.sees(xid)),
      updated: (frame, xid) => this.#updated(frame, xid),
      refused: (error) => {
        this.#tell((watcher) => watcher.error(error));
        this.#pollUnlessLive(true);
      },
    });
    this.#pollUnlessLive();
  }

  /** @returns a function that ends it */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    if (this.#last) watcher.result(this.#last.result);
    else this.#ask();
    return () => {
      this.#watchers.delete(watcher);
      this.#abandonUnlessWanted();
    };
  }

  /** Somebody else is signed in: what the one before saw is forgotten, also what is still on its way. */
  reset(): void {
    this.#last = undefined;
    this.#snapshot = null;
    this.#drop(userChanged());
    // Not at once: a page takes away what only the one before may see, and its queries would be refused.
    if (this.#watchers.size > 0) this.#schedule();
  }

  /** Asks, or waits for the answer that is under way. Watchers hear of it too. */
  async refetch({ afresh = false, signal }: Asking = {}): Promise<unknown> {
    if (afresh && !this.#attempt?.isAnswered) this.#drop(newer);
    this.#waiting++;
    let isWaiting = true;
    const leave = () => {
      if (isWaiting) this.#waiting--;
      isWaiting = false;
      this.#abandonUnlessWanted();
    };
    signal?.addEventListener("abort", leave);
    try {
      for (;;) {
        try {
          return await this.#begin().answer;
        } catch (error) {
          if (error !== newer) throw error;
        }
      }
    } finally {
      signal?.removeEventListener("abort", leave);
      leave();
    }
  }

  /** The request under way, or a new one. */
  #begin(): Attempt {
    if (this.#attempt) return this.#attempt;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    this.#timer = undefined;
    const request = new AbortController();
    const attempt: Attempt = {
      request,
      isAnswered: false,
      asked: this.#meanwhile.splice(0),
      answer: this.#options.fetch(request.signal, this.#failures > 0 ? 0 : 2).then(
        (seen) => {
          throwIfAborted(request.signal);
          attempt.isAnswered = true;
          return this.#answer(seen, attempt.asked);
        },
        (error) => {
          throwIfAborted(request.signal);
          this.#failed(error);
          throw error;
        },
      ),
    };
    this.#attempt = attempt;
    return attempt;
  }

  #answer({ result, snapshot, follows }: Seen, asked: Included[]): unknown {
    this.#snapshot = snapshot === null ? null : new Snapshot(snapshot);
    this.#failures = 0;
    this.#answered = Date.now();
    this.#follows = follows !== null;
    if (follows !== null && !this.#ended) this.#options.connection.follow(this.#options.key, follows);
    this.#show(result);
    this.#settled(asked);
    return result;
  }

  #failed(error: unknown): void {
    this.#tell((watcher) => watcher.error(error));
    // What it was asked for is still not known, and no event may come to ask again.
    if (passes(error)) this.#tryAgain();
    else {
      this.#failures = 0;
      this.#last = undefined;
    }
    this.#settled();
  }

  /** @param asked what the answer was asked for. With a synchronous standby a change is told before it is visible */
  #settled(asked: Included[] = []): void {
    this.#attempt = undefined;
    const late = asked.filter((included) => !this.#has(included, true));
    this.#meanwhile = [...late, ...this.#meanwhile.filter((included) => !this.#has(included))];
    if (this.#meanwhile.length > 0) this.#schedule(late.length > 0);
    this.#endUnlessWatched();
  }

  /** Aborts the request under way: its answer is nobody's. */
  #drop(reason: unknown): void {
    if (this.#attempt) abort(this.#attempt.request, reason);
    this.#attempt = undefined;
  }

  #abandonUnlessWanted(): void {
    this.#endUnlessWatched(); // a request that is aborted settles nothing
    const isWanted = () => this.#watchers.size > 0 || this.#waiting > 0;
    if (!this.#attempt || isWanted()) return;
    setTimeout(() => isWanted() || this.#drop(abortError()), abandoned);
  }

  #show(result: unknown): void {
    this.#last = { result };
    this.#tell((watcher) => watcher.result(result));
  }

  /** What a watcher throws is an unhandled rejection: this and the other watchers continue. */
  #tell(tell: (watcher: Watcher) => void): void {
    for (const watcher of [...this.#watchers]) void (async () => tell(watcher))();
  }

  /** Whether the last answer has what came. */
  #has(included: Included, asked = false): boolean {
    return this.#snapshot ? included(this.#snapshot, asked) : asked;
  }

  #changed(included: Included): void {
    if (!this.#attempt && this.#has(included)) return;
    this.#meanwhile.push(included);
    if (!this.#attempt) this.#schedule();
  }

  #updated(frame: { result?: unknown; data?: unknown }, xid: string): void {
    if (this.#attempt) this.#meanwhile.push((seen) => seen.sees(xid));
    this.#snapshot = null;
    this.#show(this.#options.decode(frame));
  }

  /** @param isLate whether the last answer lacked what it was asked for */
  #schedule(isLate = false): void {
    if (this.#ended || this.#timer !== undefined) return;
    const isBusy = (isLate || this.#follows) && Date.now() - this.#answered <= 2 * this.#wait;
    this.#wait = isBusy ? Math.min(2 * this.#wait, longestDebounce) : debounce;
    this.#timer = setTimeout(() => this.#ask(), this.#wait);
  }

  #tryAgain(): void {
    if (this.#ended) return;
    const longest = Math.min(firstRetry * 2 ** this.#failures++, longestRetry);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#ask(), Math.random() * longest);
  }

  /** For the watchers. After a reset there may be none left. */
  #ask(): void {
    this.#timer = undefined;
    if (this.#watchers.size > 0 || this.#last) this.#begin().answer.catch(() => {});
  }

  /** @param isRefused whether the service does not let it be watched: there is no socket's session, or no room */
  #pollUnlessLive(isRefused = this.#isRefused): void {
    this.#isRefused = isRefused;
    // A proxy may leave a connection half open, so it counts from the start.
    const polls = isRefused || this.#options.connection.getStatus() !== "live";
    if (polls === (this.#poll !== undefined)) return;
    clearInterval(this.#poll);
    // After failures the waits of `#tryAgain` count.
    const ask = () => this.#failures === 0 && (this.#last || !this.#isRefused) && this.#ask();
    this.#poll = polls ? setInterval(ask, pollEvery) : undefined;
  }

  /** A page that replaces one component by another wants it again in a moment. */
  #endUnlessWatched(): void {
    setTimeout(() => this.#watchers.size === 0 && this.#waiting === 0 && this.end(), lingering);
  }

  /** Nothing is asked any more, and nobody hears of an answer that is still on its way. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#watchers.clear();
    const { connection, key, unused } = this.#options;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    clearInterval(this.#poll);
    this.#stopFollowing();
    connection.forget(key);
    unused();
  }
}

/** Why a request is aborted: a newer one takes its place. */
const newer = abortError();
