import { defineAuth } from "@svc/core";
export default defineAuth({
  user: { additionalFields: { role: { type: "text", default: "member" } } },
  emailAndPassword: { enabled: true },
  oauth: { allowedReturnModes: ["token", "cookie"] },
  emailVerification: {
    sendVerificationEmail: async ({ email, url }) => {
      console.info(email, url);
    },
  },
  betterAuth: (defaults) => defaults,
});
