/** The thirteen kinds of mail, and everything about a kind that is not its wording. */

interface MailKindFacts {
  /** Ends the names of the kind's settings: `AUTH_MAILER_SUBJECTS_<suffix>`. */
  envSuffix: string
  /** Used when no subject is configured; a template like any other subject. */
  subject: string
  /** Carries a confirmation link with its typed code. */
  link: boolean
  /** What `$messageType` in AUTH_SMTP_HEADERS becomes. */
  messageType: string
  /** What a template of this kind may name. */
  variables: readonly string[]
}

const common = ['SiteURL', 'Email', 'Data'] as const
const link = [...common, 'ConfirmationURL', 'Token', 'TokenHash', 'RedirectTo'] as const

export const mailKinds = {
  confirmation: {
    envSuffix: 'CONFIRMATION',
    subject: 'Confirm your email address',
    link: true,
    messageType: 'confirmation',
    variables: link,
  },
  invite: {
    envSuffix: 'INVITE',
    subject: "You've been invited",
    link: true,
    messageType: 'invite',
    variables: link,
  },
  recovery: {
    envSuffix: 'RECOVERY',
    subject: 'Reset your password',
    link: true,
    messageType: 'recovery',
    variables: link,
  },
  magic_link: {
    envSuffix: 'MAGIC_LINK',
    subject: 'Your sign-in link',
    link: true,
    messageType: 'magic_link',
    variables: link,
  },
  email_change: {
    envSuffix: 'EMAIL_CHANGE',
    subject: 'Confirm your new email address',
    link: true,
    messageType: 'email_change',
    variables: [...link, 'NewEmail', 'SendingTo'],
  },
  reauthentication: {
    envSuffix: 'REAUTHENTICATION',
    subject: '{{ .Token }} is your verification code',
    link: false,
    // Existing header rules of mail providers know this kind by its verb.
    messageType: 'reauthenticate',
    variables: [...common, 'Token'],
  },
  password_changed_notification: {
    envSuffix: 'PASSWORD_CHANGED_NOTIFICATION',
    subject: 'Your password was changed',
    link: false,
    messageType: 'password_changed_notification',
    variables: common,
  },
  email_changed_notification: {
    envSuffix: 'EMAIL_CHANGED_NOTIFICATION',
    subject: 'Your email address was changed',
    link: false,
    messageType: 'email_changed_notification',
    variables: [...common, 'OldEmail'],
  },
  phone_changed_notification: {
    envSuffix: 'PHONE_CHANGED_NOTIFICATION',
    subject: 'Your phone number was changed',
    link: false,
    messageType: 'phone_changed_notification',
    variables: [...common, 'Phone', 'OldPhone'],
  },
  identity_linked_notification: {
    envSuffix: 'IDENTITY_LINKED_NOTIFICATION',
    subject: 'A new sign-in method was linked to your account',
    link: false,
    messageType: 'identity_linked_notification',
    variables: [...common, 'Provider'],
  },
  identity_unlinked_notification: {
    envSuffix: 'IDENTITY_UNLINKED_NOTIFICATION',
    subject: 'A sign-in method was removed from your account',
    link: false,
    messageType: 'identity_unlinked_notification',
    variables: [...common, 'Provider'],
  },
  mfa_factor_enrolled_notification: {
    envSuffix: 'MFA_FACTOR_ENROLLED_NOTIFICATION',
    subject: 'A new verification method was added to your account',
    link: false,
    messageType: 'mfa_factor_enrolled_notification',
    variables: [...common, 'FactorType'],
  },
  mfa_factor_unenrolled_notification: {
    envSuffix: 'MFA_FACTOR_UNENROLLED_NOTIFICATION',
    subject: 'A verification method was removed from your account',
    link: false,
    messageType: 'mfa_factor_unenrolled_notification',
    variables: [...common, 'FactorType'],
  },
} as const satisfies Record<string, MailKindFacts>

export type MailKind = keyof typeof mailKinds

/** Every kind, in the order of the table. */
export const mailKindNames = Object.keys(mailKinds) as MailKind[]
