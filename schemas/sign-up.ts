import { type Static, Type } from '@sinclair/typebox'

import { CaptchaFields, Channel, Metadata, Phone, PkceFields } from './fields.ts'

/** The body of POST /signup: an identifier and a password, or neither for an anonymous user. */
export const SignUpBody = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  username: Type.Optional(
    Type.String({ description: 'With AUTH_USERNAMES_ENABLED; assigned by the confirmation' }),
  ),
  password: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
  channel: Channel,
  ...PkceFields,
  ...CaptchaFields,
})
export type SignUpBody = Static<typeof SignUpBody>
