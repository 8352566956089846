/** The types of email. A new one is a file in kinds/, a line here, and its texts in languages/. */
import {
  adminRole,
  appConnected,
  oauthClient,
  organizationRole,
  scimToken,
  serverChange,
  usernameChanged,
} from './access.ts'
import { accountDeleted } from './account-deleted.ts'
import { confirmation } from './confirmation.ts'
import type { EmailKindDefinition } from './definition.ts'
import { emailChange } from './email-change.ts'
import { emailChanged } from './email-changed.ts'
import { identityLinked } from './identity-linked.ts'
import { identityUnlinked } from './identity-unlinked.ts'
import { invite } from './invite.ts'
import { magicLink } from './magic-link.ts'
import { mfaFactorEnrolled } from './mfa-factor-enrolled.ts'
import { mfaFactorUnenrolled } from './mfa-factor-unenrolled.ts'
import { mfaVerificationFailed } from './mfa-verification-failed.ts'
import { newSignIn } from './new-sign-in.ts'
import { organizationDomain } from './organization-domain.ts'
import { organizationInvitation } from './organization-invitation.ts'
import { passkeyAdded } from './passkey-added.ts'
import { passwordChanged } from './password-changed.ts'
import { phoneChanged } from './phone-changed.ts'
import { reauthentication } from './reauthentication.ts'
import { recovery } from './recovery.ts'
import { recoveryCodeUsed } from './recovery-code-used.ts'
import { refreshTokenReused } from './refresh-token-reused.ts'
import { securityKeyRefused } from './security-key-refused.ts'
import { tooManyAttemptsEmail } from './too-many-attempts.ts'

/** In the order of the configuration reference. */
export const emailKindDefinitions = {
  invite,
  confirmation,
  recovery,
  magic_link: magicLink,
  email_change: emailChange,
  reauthentication,
  organization_invitation: organizationInvitation,
  organization_domain: organizationDomain,
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
  passkey_added_notification: passkeyAdded,
  mfa_verification_failed_notification: mfaVerificationFailed,
  too_many_attempts_notification: tooManyAttemptsEmail,
  account_deleted_notification: accountDeleted,
  username_changed_notification: usernameChanged,
  app_connected_notification: appConnected,
  admin_role_notification: adminRole,
  organization_role_notification: organizationRole,
  scim_token_notification: scimToken,
  oauth_client_notification: oauthClient,
  server_change_notification: serverChange,
} satisfies Record<string, EmailKindDefinition>

export type EmailKind = keyof typeof emailKindDefinitions

/** Security notifications, each with a switch. */
export type NotificationKind = Extract<EmailKind, `${string}_notification`>

/** Every kind, in the order of the table. */
export const mailKindNames = Object.keys(emailKindDefinitions) as EmailKind[]
