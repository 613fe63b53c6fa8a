import { defineAuth } from "@svc/core";

export default defineAuth({ emailAndPassword: { enabled: true } });
