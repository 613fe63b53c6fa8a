/** Organizations of the panel People: members with their roles, and invitations. */
import { actButton, mayAct } from "./acting.ts";
import { ask } from "./api.ts";
import { type Child, controls, copyButton, field, h, heading, later, link, quiet, table } from "./dom.ts";
import { fresh, href, type State } from "./state.ts";
import { time } from "./texts.ts";

export interface Page<Row> {
  rows: Row[];
  /** Where the next page begins. */
  next: string | null;
}

interface Organization {
  id: string;
  name: string;
  created_at: string;
}

interface Member {
  user_id: string;
  email: string;
  name: string;
  role: string;
  created_at: string;
}

interface Invitation {
  id: string;
  email: string;
  role: string;
  state: string;
  invited_by: string;
  /** The e-mail address of that user. */
  inviter: string;
  created_at: string;
  expires_at: string;
}

/** Links to other pages of a list. @param part of the address: the place where the page begins */
export const pages = (part: string, next: string | null, state: State): Child =>
  (state[part] || next) &&
  controls(
    state[part] && link(href({ [part]: null }), "First page"),
    next && link(href({ [part]: next }), "Next page"),
  );

export async function organizations({ search = "", after, id }: State): Promise<Child> {
  const place = after && id ? { name: after, id } : null;
  const { rows, next } = await ask<{ rows: Organization[]; next: { name: string; id: string } | null }>(
    "organizations",
    { search, after: place },
  );
  return [
    rows.length > 0
      ? table(
          "Organizations",
          ["Organization", "Id", "Since"],
          rows.map(({ id, name, created_at }) => [organizationLink(id, name), id, time(created_at)]),
        )
      : quiet("No organization fits."),
    controls(
      place && link(href({ after: null, id: null }), "First page"),
      next && link(href({ after: next.name, id: next.id }), "Next page"),
      link(fresh({ panel: "people" }), "Users"),
    ),
  ];
}

const organizationLink = (id: string, name: string) => link(fresh({ panel: "people", organization: id }), name);

export const organizationOf = (id: string, state: State): Child => [
  heading("Organization"),
  later("the organization", async () => {
    const { name, created_at } = await ask<Organization>("organization", { id });
    return [
      h("dl", { class: "facts" }, ...field("Id", id), ...field("Name", name), ...field("Since", time(created_at))),
      controls(
        link(fresh({ panel: "people", list: "organizations" }), "All organizations"),
        copyButton("Copy the id", id),
      ),
    ];
  }),
  h("h2", {}, "Members"),
  later("the members", () => members(id, state)),
  h("h2", {}, "Invitations"),
  later("the invitations", () => invitations(id, state)),
];

async function members(organization: string, state: State): Promise<Child> {
  const input = { of: organization, before: state.members ?? null };
  const [{ rows, next }, acts] = await Promise.all([ask<Page<Member>>("members", input), mayAct()]);
  const head = ["E-mail address", "Name", "Role", "Since", ...(acts ? ["Acts"] : [])];
  const cells = rows.map(({ user_id: user, email, name, role, created_at }) => [
    link(fresh({ panel: "people", user }), email),
    name,
    role,
    time(created_at),
    ...(acts
      ? [
          [
            role !== "owner" &&
              actButton("Make owner", { act: "act_make_owner", organization, user }, { on: email, isFinal: true }),
            actButton("Remove", { act: "act_remove_member", organization, user }, { on: email, isFinal: true }),
          ],
        ]
      : []),
  ]);
  return [
    rows.length > 0 ? table("Members, the newest first", head, cells) : quiet("No member."),
    pages("members", next, state),
  ];
}

async function invitations(organization: string, state: State): Promise<Child> {
  const input = { of: organization, before: state.invitations ?? null };
  const [{ rows, next }, acts] = await Promise.all([ask<Page<Invitation>>("invitations", input), mayAct()]);
  const head = ["To", "Role", "State", "By", "Sent at", "Ends at", ...(acts ? ["Acts"] : [])];
  const cells = rows.map(({ id, email, role, state, invited_by, inviter, created_at, expires_at }) => [
    email,
    role,
    state,
    link(fresh({ panel: "people", user: invited_by }), inviter),
    time(created_at),
    time(expires_at),
    ...(acts
      ? [
          state === "pending" &&
            actButton("Cancel", { act: "act_cancel_invitation", invitation: id }, { on: `of ${email}`, isFinal: true }),
        ]
      : []),
  ]);
  return [
    rows.length > 0 ? table("Invitations, the newest first", head, cells) : quiet("No invitation of the last 30 days."),
    pages("invitations", next, state),
  ];
}
