/**
 * Words that reverse a statement, as opposing groups of inflected forms.
 * Next hop: none.
 */

// Each line: one side | the other. Forms are listed, because a stemmer would merge too much.
const pairs = `
increase increases increased increasing higher elevate elevates elevated elevating raise raises raised raising rise rises rose rising greater more upregulate upregulates upregulated upregulation upregulating enhance enhances enhanced enhancing enhancement | decrease decreases decreased decreasing lower lowers lowered lowering reduce reduces reduced reducing reduction reductions decline declines declined declining less fewer downregulate downregulates downregulated downregulation diminish diminishes diminished attenuate attenuates attenuated drop drops dropped fall falls fell fallen
promote promotes promoted promoting activate activates activated activating activation induce induces induced inducing induction stimulate stimulates stimulated stimulating stimulation trigger triggers triggered facilitate facilitates facilitated enable enables enabled enhance enhances enhanced allow allows allowed | inhibit inhibits inhibited inhibiting inhibition suppress suppresses suppressed suppressing suppression block blocks blocked blocking prevent prevents prevented preventing impair impairs impaired repress represses repressed repression inactivate inactivates inactivated disable disables disabled forbid forbids forbidden abolish abolishes abolished
improve improves improved improving improvement better | worsen worsens worsened worsening worse deteriorate deteriorates deteriorated impair impairs impaired
positive positively | negative negatively inverse inversely
gain gains gained | loss lose loses lost
presence present | absence absent lack lacks lacking
high | low
long longer | short shorter
strong stronger strongly | weak weaker weakly
early earlier | late later
before | after
above over | below under
fast faster quick quicker | slow slower
hot hotter warm warmer | cold colder cool cooler
large larger big bigger | small smaller
all every always | none never
same similar identical equal | different distinct
sensitive susceptible sensitivity susceptibility | resistant insensitive resistance
protect protects protected protective protection | harm harms harmed harmful damage damages
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
`;

/** For each word, the words that mean its opposite. */
export const opposites: ReadonlyMap<string, ReadonlySet<string>> = read(pairs);

function read(lines: string): Map<string, Set<string>> {
  const map = new Map<string, Set<string>>();
  for (const line of lines.trim().split("\n")) {
    const [left = [], right = []] = line.split("|").map((side) => side.trim().split(" "));
    for (const [from, to] of [
      [left, right],
      [right, left],
    ] as const) {
      for (const word of from) {
        const known = map.get(word) ?? new Set();
        map.set(word, known);
        for (const other of to) known.add(other);
      }
    }
  }
  return map;
}
