import { Type } from '@sinclair/typebox'

import { notificationKind } from './definition.ts'

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
