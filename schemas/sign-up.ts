import { type Static, Type } from '@sinclair/typebox'

import { CaptchaFields, Channel, Metadata, Phone, PkceFields } from './fields.ts'

/** What POST /signup takes: an address and a password, or neither for an anonymous person. */
export const SignUpBody = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Phone,
  password: Type.Optional(Type.String()),
  data: Type.Optional(Metadata),
  channel: Channel,
  ...PkceFields,
  ...CaptchaFields,
})
export type SignUpBody = Static<typeof SignUpBody>
