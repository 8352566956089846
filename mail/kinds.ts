/** The kinds of mail. Another one is a file in kinds/, a line here, and its texts in languages/. */
import type { MailKindFacts } from './kind.ts'
import { accountDeleted } from './kinds/account-deleted.ts'
import { confirmation } from './kinds/confirmation.ts'
import { emailChange } from './kinds/email-change.ts'
import { emailChanged } from './kinds/email-changed.ts'
import { identityLinked } from './kinds/identity-linked.ts'
import { identityUnlinked } from './kinds/identity-unlinked.ts'
import { invite } from './kinds/invite.ts'
import { magicLink } from './kinds/magic-link.ts'
import { mfaFactorEnrolled } from './kinds/mfa-factor-enrolled.ts'
import { mfaFactorUnenrolled } from './kinds/mfa-factor-unenrolled.ts'
import { newSignIn } from './kinds/new-sign-in.ts'
import { passwordChanged } from './kinds/password-changed.ts'
import { phoneChanged } from './kinds/phone-changed.ts'
import { reauthentication } from './kinds/reauthentication.ts'
import { recovery } from './kinds/recovery.ts'
import { recoveryCodeUsed } from './kinds/recovery-code-used.ts'
import { refreshTokenReused } from './kinds/refresh-token-reused.ts'
import { securityKeyRefused } from './kinds/security-key-refused.ts'

/** In the order of the configuration reference. */
export const mailKinds = {
  invite,
  confirmation,
  recovery,
  magic_link: magicLink,
  email_change: emailChange,
  reauthentication,
  password_changed_notification: passwordChanged,
  email_changed_notification: emailChanged,
  phone_changed_notification: phoneChanged,
  identity_linked_notification: identityLinked,
  identity_unlinked_notification: identityUnlinked,
  mfa_factor_enrolled_notification: mfaFactorEnrolled,
  mfa_factor_unenrolled_notification: mfaFactorUnenrolled,
  security_key_refused_notification: securityKeyRefused,
  recovery_code_used_notification: recoveryCodeUsed,
  new_sign_in_notification: newSignIn,
  refresh_token_reused_notification: refreshTokenReused,
  account_deleted_notification: accountDeleted,
} satisfies Record<string, MailKindFacts>

export type MailKind = keyof typeof mailKinds

/** Those that only tell what has happened, and that an operator switches on. */
export type NotificationKind = Extract<MailKind, `${string}_notification`>

/** Every kind, in the order of the table. */
export const mailKindNames = Object.keys(mailKinds) as MailKind[]
