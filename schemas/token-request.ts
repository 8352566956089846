import { type Static, Type } from '@sinclair/typebox'

import { CaptchaFields } from './fields.ts'

/** The fields of all grants; each grant checks those that it requires. */
export const TokenRequest = Type.Object({
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  username: Type.Optional(
    Type.String({ description: 'Instead of email or phone, with AUTH_USERNAMES_ENABLED' }),
  ),
  password: Type.Optional(Type.String()),
  refresh_token: Type.Optional(Type.String()),
  organization_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'For refresh_token: the organization of this token; the session keeps its own',
    }),
  ),
  auth_code: Type.Optional(Type.String()),
  code_verifier: Type.Optional(Type.String()),
  id_token: Type.Optional(Type.String()),
  provider: Type.Optional(Type.String()),
  issuer: Type.Optional(Type.String()),
  client_id: Type.Optional(Type.String()),
  access_token: Type.Optional(Type.String()),
  nonce: Type.Optional(Type.String()),
  chain: Type.Optional(Type.String({ description: 'For web3: ethereum or solana' })),
  message: Type.Optional(Type.String({ description: 'For web3: the text that the wallet signed' })),
  signature: Type.Optional(Type.String()),
  link_identity: Type.Optional(Type.Boolean()),
  ...CaptchaFields,
})
export type TokenRequest = Static<typeof TokenRequest>
