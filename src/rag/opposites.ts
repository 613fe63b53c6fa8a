/**
 * Words that reverse a statement, as opposing groups, and the direction of a word: more of something, or less.
 * Next hop: none.
 */

// `stem~` stands for all words that begin with the stem, except doers such as "inhibitors". Other forms are listed, because a
// stemmer would merge too much.

// Each line: more | less. A word of the left side keeps the direction of a statement, one of the right side turns it.
const directed = `
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

// Each line: one side | the other.
const undirected = `
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
begin begins began start starts started | end ends ended stop stops stopped
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

function linesOf(groups: string, isDirected: boolean) {
  const lines = groups.trim().split("\n");
  return lines.map((line) => ({ isDirected, words: line.split("|").map((side) => side.trim().split(" ")) }));
}

const doer = /(?:[ae]|it|ct|ss|k|nc|t|v)(?:or|er)s?$/;
const longestStem = 12;

function sidesOf(word: string): Side[] {
  const found = [...(sides.get(word) ?? [])];
  if (doer.test(word)) return found;
  for (let length = 3; length <= Math.min(word.length, longestStem); length += 1)
    found.push(...(sides.get(`${word.slice(0, length)}~`) ?? []));
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
