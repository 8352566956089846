/** Variables whose meaning changed between releases, for `npm run doctor -- --upgrade`. */
import type { ConfigVariableName } from './groups/index.ts'

interface VariableChange {
  variable: ConfigVariableName
  /** The last release with the former behaviour. */
  lastRelease: string
  /** What changed, and the value that keeps the former behaviour. */
  sentence: string
}

const notifications = [
  'PASSWORD_CHANGED',
  'EMAIL_CHANGED',
  'PHONE_CHANGED',
  'IDENTITY_LINKED',
  'IDENTITY_UNLINKED',
  'MFA_FACTOR_ENROLLED',
  'MFA_FACTOR_UNENROLLED',
  'SECURITY_KEY_REFUSED',
  'RECOVERY_CODE_USED',
  'REFRESH_TOKEN_REUSED',
  'ACCOUNT_DELETED',
] as const

/** Oldest first. Every default that differs from an earlier release has an entry. */
export const variableChanges: readonly VariableChange[] = [
  ...notifications.map(
    (kind): VariableChange => ({
      variable: `AUTH_MAILER_NOTIFICATIONS_${kind}_ENABLED`,
      lastRelease: '0.1.0',
      sentence: 'the default was false and is true: users get this email. Set false to send none',
    }),
  ),
  {
    variable: 'AUTH_AUDIT_RETENTION',
    lastRelease: '0.1.0',
    sentence: 'audit entries were kept forever and are kept for 400d. Set 0 to keep them forever',
  },
  {
    variable: 'AUTH_MAILER_SUBJECTS_SECURITY_KEY_REFUSED_NOTIFICATION',
    lastRelease: '0.1.0',
    sentence: 'the default subject says "rejected" instead of "refused"',
  },
]
