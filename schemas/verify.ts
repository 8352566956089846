import { type Static, Type } from '@sinclair/typebox'

import { choices, needed } from './documented.ts'

const mailed = ['signup', 'invite', 'recovery', 'magiclink', 'email', 'email_change']

/** The body of POST /verify: a code with its recipient, or the token of a link. */
export const VerifyBody = Type.Object({
  type: Type.Optional(
    Type.String({
      description: '`email` means `signup` or `magiclink`',
      ...needed,
      ...choices(...mailed, 'sms', 'phone_change'),
    }),
  ),
  token: Type.Optional(
    Type.String({
      description: 'The entered code, or the token of the link, which needs no address',
    }),
  ),
  token_hash: Type.Optional(Type.String({ description: 'The token of the link' })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  username: Type.Optional(
    Type.String({
      description: 'Instead of email for the code of a recovery, with AUTH_USERNAMES_ENABLED',
    }),
  ),
  password: Type.Optional(Type.String({ description: 'Set for a user without one' })),
  redirect_to: Type.Optional(Type.String({ description: 'For links only; ignored for codes' })),
  open_link: Type.Optional(Type.String({ description: 'Sent by the confirmation page of a link' })),
  form_token: Type.Optional(Type.String({ description: 'The same, for a second submission' })),
})
export type VerifyBody = Static<typeof VerifyBody>

/** The first of two addresses was confirmed. */
export const PartialVerification = Type.Object({ msg: Type.String(), code: Type.Literal('200') })
