/**
 * One refresh at a time for each session. If tabs, retries and rendering refresh at the same moment, the backend is
 * called once, and all of them get its answer.
 * Next hop: none.
 */

export class Refreshes<Answer> {
  readonly #running = new Map<string, Promise<Answer>>();

  /**
   * @param token  of the session
   * @param ask    calls the backend
   * @param isOver the answer for a session that was signed out meanwhile
   */
  refresh(token: string, ask: () => Promise<Answer>, isOver: Answer): Promise<Answer> {
    const running = this.#running.get(token);
    if (running) return running;
    const asked: Promise<Answer> = ask().then((answer) => (this.#running.get(token) === asked ? answer : isOver));
    return this.#run(token, asked);
  }

  /** A refresh that still runs, or begins before this ends, must not set the cookie again. */
  async signOut<T>(token: string, end: () => Promise<T>, isOver: Answer): Promise<T> {
    const ended = end();
    await this.#run(
      token,
      ended.then(
        () => isOver,
        () => isOver,
      ),
    );
    return ended;
  }

  #run(token: string, promise: Promise<Answer>): Promise<Answer> {
    this.#running.set(token, promise);
    const forget = () => {
      if (this.#running.get(token) === promise) this.#running.delete(token);
    };
    promise.then(forget, forget);
    return promise;
  }
}
