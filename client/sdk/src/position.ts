/**
 * The client's position in the database's log. With it a standby may answer a query if it has the client's own changes.
 * `new` until the service has sent a position, and whenever the position is uncertain.
 */
const unknown = "new";

export class Position {
  #seen: string = unknown;
  /** Counts how often it became unknown: answers to requests from before that are ignored. */
  #era = 0;

  /** The header for a query, and a function that reads the answer's header. */
  ask(): { headers: Record<string, string>; answered(headers: Headers): void } {
    const era = this.#era;
    return {
      headers: { "svc-position": this.#seen },
      answered: (headers) => {
        if (era === this.#era) this.#advance(headers.get("svc-position"));
      },
    };
  }

  /** A mutation has ended. @param headers of its answer, or undefined without an answer */
  changed(headers: Headers | undefined): void {
    const said = headers?.get("svc-position");
    if (said) this.#advance(said);
    else this.forget();
  }

  /** Something was changed at an unknown position of the log. */
  forget(): void {
    this.#era++;
    this.#seen = unknown;
  }

  #advance(said: string | null): void {
    if (said && (this.#seen === unknown || place(said) > place(this.#seen))) this.#seen = said;
  }
}

const place = (position: string): bigint => {
  const [high = "0", low = "0"] = position.split("/");
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
};
