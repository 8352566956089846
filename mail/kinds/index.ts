/** The types of email. A new one is defined in a file of kinds/, and needs a line here and its texts in languages/. */
import type { Static } from '@sinclair/typebox'

import {
  accountDeleted,
  appConnected,
  emailChanged,
  identityLinked,
  identityUnlinked,
  newSignIn,
  passwordChanged,
  phoneChanged,
  refreshTokenReused,
  tooManyAttemptsEmail,
  usernameChanged,
} from './account.ts'
import type { EmailKindDefinition } from './definition.ts'
import {
  mfaFactorEnrolled,
  mfaFactorUnenrolled,
  mfaVerificationFailed,
  passkeyAdded,
  recoveryCodeUsed,
  securityKeyRefused,
} from './factors.ts'
import {
  confirmation,
  emailChange,
  invite,
  magicLink,
  reauthentication,
  recovery,
} from './links.ts'
import {
  organizationDomain,
  organizationInvitation,
  organizationRole,
  scimToken,
} from './organizations.ts'
import { adminRole, oauthClient, serverChange } from './server.ts'

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

/** The template variables of each type of email. */
export type MailVariables = {
  [K in EmailKind]: Static<(typeof emailKindDefinitions)[K]['variables']>
}
