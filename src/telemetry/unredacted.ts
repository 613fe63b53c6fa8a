/** Marks a string that must not be redacted: it contains a secret on purpose. */
export class Unredacted {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
