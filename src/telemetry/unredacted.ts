/** A text that is logged as it is, whatever it looks like: what has a secret in it on purpose. */
export class Unredacted {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
