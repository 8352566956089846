import { type Static, Type } from '@sinclair/typebox'

/** What POST /verify takes: a code with the address it went to, or the token of a link. */
export const VerifyBody = Type.Object({
  type: Type.Optional(
    Type.String({
      description:
        'signup, invite, recovery, magiclink, email (either of sign-up and magic link), email_change, sms or phone_change',
    }),
  ),
  token: Type.Optional(
    Type.String({
      description: 'The code, as typed; or the token of the link, then no address is needed',
    }),
  ),
  token_hash: Type.Optional(Type.String({ description: 'The token of the link' })),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String({ description: 'Set when the user has none yet' })),
  redirect_to: Type.Optional(Type.String({ description: 'For links; without effect on a code' })),
  open_link: Type.Optional(
    Type.String({ description: 'Sent by the page between a link and its effect' }),
  ),
})
export type VerifyBody = Static<typeof VerifyBody>

/** The first of two mailboxes has agreed. */
export const HalfDone = Type.Object({ msg: Type.String(), code: Type.Literal('200') })
