import { type Static, Type } from '@sinclair/typebox'

import { CaptchaFields } from './fields.ts'

/** The fields of every grant; which are needed is said by the grant. */
export const TokenRequest = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  auth_code: Type.Optional(Type.String()),
  code_verifier: Type.Optional(Type.String()),
  id_token: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  issuer: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  access_token: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  link_identity: Type.Optional(Type.Boolean()),
  ...CaptchaFields,
})
export type TokenRequest = Static<typeof TokenRequest>
