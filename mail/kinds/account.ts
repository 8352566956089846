/** What happened to an account: its identifiers, sign-in methods, sessions and authorized applications. */
import { Type } from '@sinclair/typebox'

import { notificationKind, sampleEmail, sampleNewEmail } from './definition.ts'

export const passwordChanged = notificationKind({
  event: 'PASSWORD_CHANGED',
  details: {},
  sample: {},
})

export const emailChanged = notificationKind({
  event: 'EMAIL_CHANGED',
  details: { OldEmail: Type.String() },
  sample: { Email: sampleNewEmail, OldEmail: sampleEmail },
})

export const phoneChanged = notificationKind({
  event: 'PHONE_CHANGED',
  details: { Phone: Type.String(), OldPhone: Type.String() },
  sample: { Phone: '15550102', OldPhone: '15550101' },
})

export const usernameChanged = notificationKind({
  event: 'USERNAME_CHANGED',
  details: { Username: Type.String() },
  sample: { Username: 'ada' },
})

export const identityLinked = notificationKind({
  event: 'IDENTITY_LINKED',
  details: { Provider: Type.String() },
  sample: { Provider: 'github' },
})

export const identityUnlinked = notificationKind({
  event: 'IDENTITY_UNLINKED',
  details: { Provider: Type.String() },
  sample: { Provider: 'github' },
})

export const appConnected = notificationKind({
  event: 'APP_CONNECTED',
  details: { ClientName: Type.String(), Scopes: Type.String() },
  sample: { ClientName: 'Grafana', Scopes: 'openid email' },
})

export const newSignIn = notificationKind({
  event: 'NEW_SIGN_IN',
  details: {
    /** Browser and system according to the user agent; empty when it is unknown. */
    Device: Type.String(),
    IPAddress: Type.String(),
    /** ISO 8601 */
    SignedInAt: Type.String(),
    /** Leads to a page that revokes the new session. */
    EndSessionURL: Type.String(),
  },
  button: 'EndSessionURL',
  sample: {
    Device: 'Firefox, Windows',
    IPAddress: '203.0.113.7',
    SignedInAt: '2026-03-04T05:06:07.000Z',
    EndSessionURL: 'https://auth.example.com/sessions/end?token=5f1c8d0e9b7a4632c1d0f8e7a6b59483',
  },
})

export const refreshTokenReused = notificationKind({
  event: 'REFRESH_TOKEN_REUSED',
  details: {},
  sample: {},
})

export const tooManyAttemptsEmail = notificationKind({
  event: 'TOO_MANY_ATTEMPTS',
  details: {},
  sample: {},
})

export const accountDeleted = notificationKind({
  event: 'ACCOUNT_DELETED',
  details: {},
  sample: {},
})
