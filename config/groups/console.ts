import { booleanField, group } from '../core/fields.ts'

export const console = group('Console', {
  AUTH_CONSOLE_ENABLED: booleanField(
    'Serves the console for operators at `/console`, the sign-in pages that it uses, and the endpoints of the admin API that it needs. On in `npm run dev`.',
    false,
  ),
  AUTH_CONSOLE_REQUIRE_MFA: booleanField(
    'Admins who sign in, with a role of their own (`npm run admin`) or of `AUTH_JWT_ADMIN_ROLES`, need a second factor for every request to the admin API. Without this variable, only those who have one must verify it.',
    false,
  ),
})

export const accountPage = group('Account page', {
  AUTH_ACCOUNT_PAGE_ENABLED: booleanField(
    'Serves `/account`, where users manage their own account, and the sign-in pages that it uses. A sign-in there without another target continues at it. On in `npm run dev`.',
    false,
  ),
})
