/**
 * Words that reverse a statement, as opposing groups, and the direction of a word: more of something, or less.
 * Next hop: none.
 */

/** `stem~` stands for all words that begin with the stem; it does not stand for doers, such as "inhibitors". */
type Groups = string;

// Each line: more | less. A word of the left side keeps the direction of a statement, one of the right side turns it.
const directed: Groups = `
increas~ elevat~ rais~ rise rises rising rose higher greater more upregulat~ enhanc~ boost~ augment~ amplif~ extend~ exceed~ outperform~ surpass~ | decreas~ reduc~ lower lowers lowered lowering less fewer declin~ downregulat~ diminish~ attenuat~ drop drops dropped fall falls fell fallen restrict~ curb curbs curbed lessen~ minimi~ dampen~
promot~ activat~ induc~ stimulat~ trigger~ facilitat~ enabl~ enhanc~ allow~ encourag~ support~ favor~ favour~ produc~ generat~ cause causes caused causing drives drive driven lead leads led leading result results resulted contribut~ necessary required requires require essential critical crucial | inhibit~ suppress~ block blocks blocked blocking blockade prevent~ impair~ repress~ inactivat~ deactivat~ disabl~ forbid~ abolish~ abrogat~ disrupt~ imped~ hinder~ hamper~ counteract~ antagoni~ protect~ alleviat~ ameliorat~ mitigat~ eliminat~ remov~
improv~ better effective effectively beneficial benefit benefits | worsen~ worse deteriorat~ impair~ poor poorer exacerbat~ aggravat~
positiv~ | negativ~ inverse inversely
gain gains gained | loss lose loses lost lack lacks lacked lacking deplet~ delet~ knockout knockdown deficien~ deficit
presence present | absence absent
high | low
strong stronger strongly strengthen~ | weak weaker weakly weaken~
fast faster quick quicker accelerat~ | slow slows slowed slower slowing delay~
longer | shorter shorten~
superior | inferior
`;

const undirected: Groups = `
long | short
early earlier | late later
before | after
above over | below under
hot hotter warm warmer | cold colder cool cooler
large larger big bigger | small smaller
all every always | none never
same similar identical equal | different distinct
sensitive susceptible sensitivity susceptibility | resistant insensitive resistance
protect~ | harm harms harmed harmful damage damages damaged
beneficial benefit benefits | harmful detrimental adverse
accept accepts accepted | refuse refuses refused reject rejects rejected
open opens opened | close closes closed
on | off
win wins won | lose loses lost
true | false
safe | unsafe dangerous
dependent | independent
public | private
maximum most maximal | minimum least minimal
begin begins began begin start starts started | end ends ended stop stops stopped
include includes included including | exclude excludes excluded excluding
upstream | downstream
anterior | posterior
male males men man | female females women woman
precede precedes preceded | follow follows followed
overestimat~ | underestimat~
confirm~ | refut~ contradict~ disprov~ debunk~
`;

interface Side {
  line: number;
  sign: 1 | -1;
  isDirected: boolean;
}

const sides = new Map<string, Side[]>();
[...linesOf(directed, true), ...linesOf(undirected, false)].forEach(({ words, isDirected }, line) => {
  for (const [place, side] of words.entries())
    for (const word of side)
      sides.set(word, [...(sides.get(word) ?? []), { line, sign: place === 0 ? 1 : -1, isDirected }]);
});

function linesOf(groups: Groups, isDirected: boolean) {
  const lines = groups.trim().split("\n");
  return lines.map((line) => ({ isDirected, words: line.split("|").map((side) => side.trim().split(" ")) }));
}

const known = new Map<string, Side[]>();
const doer = /(?:[ae]|it|ct|ss|k|nc|t|v)(?:or|er)s?$/;

function sidesOf(word: string): Side[] {
  const seen = known.get(word);
  if (seen) return seen;
  const exact = sides.get(word) ?? [];
  const stems = doer.test(word)
    ? []
    : Array.from({ length: word.length }, (_, length) => sides.get(`${word.slice(0, length + 1)}~`) ?? []).flat();
  const found = [...exact, ...stems];
  if (known.size > 20_000) known.clear();
  known.set(word, found);
  return found;
}

export const hasOpposite = (word: string): boolean => sidesOf(word).length > 0;

export const areOpposed = (one: string, other: string): boolean =>
  sidesOf(one).some(({ line, sign }) => sidesOf(other).some((side) => side.line === line && side.sign !== sign));

/** Whether both words say more, or both less. */
export const haveSameDirection = (one: string, other: string): boolean =>
  directionOf(one) !== 0 && directionOf(one) === directionOf(other);

/** 1 for a word such as "increases" or "causes", -1 for one such as "reduces" or "prevents", else 0. */
export const directionOf = (word: string): 1 | -1 | 0 => sidesOf(word).find(({ isDirected }) => isDirected)?.sign ?? 0;
