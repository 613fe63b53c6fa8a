/** Members by topic. Next hop: `channels.ts`. */
import type { Member } from "./channel-member.ts";

export class MemberSets extends Map<string, Set<Member>> {
  get members(): number {
    return [...this.values()].reduce((sum, { size }) => sum + size, 0);
  }

  add(topic: string, member: Member): void {
    this.set(topic, (this.get(topic) ?? new Set()).add(member));
  }

  remove(topic: string, member: Member): void {
    const members = this.get(topic);
    members?.delete(member);
    if (members?.size === 0) this.delete(topic);
  }
}
