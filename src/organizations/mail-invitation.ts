/**
 * The job that sends an invitation through the application's mailer. It runs as the member who invites, after the commit; if the
 * mailer fails, the queue tries again.
 */
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import type { AuthDefinition, InvitationMail } from "../contract/auth.ts";
import { inProduction, type PlatformContext } from "../contract/context.ts";
import { createSvcProcedureBuilders } from "../contract/procedure.ts";
import { organizationInvitations, organizationMembers } from "../crud/organization-tables.ts";
import { onOneLine } from "../kit/showable-text.ts";
import { Unredacted } from "../telemetry/unredacted.ts";

type SendInvitation = (mail: InvitationMail) => Promise<void> | void;

/** Mailers in place of those that definitions have. */
const replaced = new WeakMap<AuthDefinition, SendInvitation>();

/** For tests of applications. Holds for all of the process that runs the application. */
export const replaceInvitationMailer = (auth: AuthDefinition, send: SendInvitation) => replaced.set(auth, send);

/** @param name of the job */
export const invitationMailer = (
  name: string,
  auth: AuthDefinition,
  { page = "/", sendInvitation }: { page?: string | undefined; sendInvitation?: SendInvitation | undefined },
) =>
  createSvcProcedureBuilders()
    .internal.name(name)
    .input(z.object({ id: z.uuid() }))
    .handler(async ({ context, input }) => {
      const { baseUrl, db, log } = context;
      const [invitation] = await db
        .select()
        .from(organizationInvitations)
        .where(and(eq(organizationInvitations.id, input.id), eq(organizationInvitations.state, "pending")));
      if (!invitation) return; // ended meanwhile
      const { email, orgId, orgName, role, invitedBy } = invitation;
      const { name: inviterName, orgId: inviterOrg, userId } = organizationMembers;
      const [inviter] = await db
        .select({ name: inviterName })
        .from(organizationMembers)
        .where(and(eq(inviterOrg, orgId), eq(userId, invitedBy)));
      const url = new URL(page, baseUrl);
      url.searchParams.set("invitation", input.id);
      const names = { organization: onOneLine(orgName), inviter: onOneLine(inviter?.name ?? "") };
      const mail = { email, url: url.href, role, ...names };
      const send = replaced.get(auth) ?? sendInvitation;
      if (send) return await send(mail);
      // Logs of production are kept.
      if ((context as unknown as PlatformContext)[inProduction])
        return log.warn("an invitation was not sent: auth.ts has no organizations.sendInvitation");
      log.info(
        { mail: "invitation", email, url: new Unredacted(mail.url) },
        "no sendInvitation in auth.ts; this is the mail",
      );
    });
