/**
 * What this client has seen, as a place in the database's log: with it a standby may answer a query, and never with less
 * than the client's own changes. `new` until the service has said where it is, and whenever that is not sure any more.
 */
const unknown = "new";

export class Position {
  #seen: string = unknown;
  /** Counts the times that it became unknown: what was sent before such a time says nothing after it. */
  #era = 0;

  /** The header for a query, and what takes in the answer's. */
  ask(): { headers: Record<string, string>; answered(headers: Headers): void } {
    const era = this.#era;
    return {
      headers: { "svc-position": this.#seen },
      answered: (headers) => {
        if (era === this.#era) this.#advance(headers.get("svc-position"));
      },
    };
  }

  /** A mutation has ended. @param headers of its answer, or undefined when there was none */
  changed(headers: Headers | undefined): void {
    const said = headers?.get("svc-position");
    if (said) this.#advance(said);
    else this.forget();
  }

  /** Something was changed, nobody knows where in the log. */
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
