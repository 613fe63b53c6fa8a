/** Words that deny a statement, and pairs of words of which one denies the other: accurate, inaccurate. Next hop: none. */
import { areAlike } from "./likeness.ts";

const denials = new Set(
  (
    "no not never none neither nor cannot without nobody nothing nowhere hardly scarcely unable unlikely incapable " +
    "ineffective unrelated unassociated uncorrelated unconnected unaffected false untrue incorrect wrong wrongly myth " +
    "disproved disproven disproves refuted refutes rebutted debunked"
  ).split(" "),
);
const failures = /^(?:fail(?:s|ed|ing|ure)?|lack(?:s|ed|ing)?|absen(?:t|ce))$/;
/** In Korean a negation is part of the verb. */
const koreanDenial = /않|없|못|아니|^안$/;

export const denies = (word: string): boolean =>
  denials.has(word) || word.endsWith("n't") || failures.test(word) || koreanDenial.test(word);

const privative = /^(?:un|in|im|ir|il|non-?|dis)(?=\p{L}{5})/u;
/** Words that only begin like a denied one. */
const complete =
  /^(?:inform|improv|infus|impress|implant|import|inhabit|intens|intent|invent|instruct|inspect|instit|indent|discov|discharg|dispos|disput|until|union)/;

/** Whether one of the words is the other with a prefix that denies it, also in another form: inaccurate, accuracy. */
export function arePrivative(one: string, other: string): boolean {
  const [bare, base] = [bareOf(one), bareOf(other)];
  if ((bare === one) === (base === other) || denies(one) || denies(other)) return false;
  const [denied, plain] = bare === one ? [base, one] : [bare, other];
  return rootOf(denied) === rootOf(plain) && areAlike(denied.slice(0, -2), plain);
}

/** The same for the two words of such a pair. */
export const rootOf = (word: string): string => bareOf(word).slice(0, 5);

const bareOf = (word: string) => (complete.test(word) ? word : word.replace(privative, ""));
