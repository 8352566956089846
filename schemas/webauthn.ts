/** WebAuthn responses as JSON (WebAuthn Level 3 §5.1, RegistrationResponseJSON and AuthenticationResponseJSON). */
import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from './values/choices.ts'

const Bytes = Type.String({ description: 'base64url' })

const common = {
  id: Bytes,
  rawId: Bytes,
  type: StringEnum(['public-key']),
  authenticatorAttachment: Type.Optional(nullable(Type.String())),
}

export const RegistrationCredential = Type.Object({
  ...common,
  response: Type.Object({
    clientDataJSON: Bytes,
    attestationObject: Bytes,
    transports: Type.Optional(nullable(Type.Array(Type.String()))),
  }),
})
export type RegistrationCredential = Static<typeof RegistrationCredential>

export const AuthenticationCredential = Type.Object({
  ...common,
  response: Type.Object({
    clientDataJSON: Bytes,
    authenticatorData: Bytes,
    signature: Bytes,
    userHandle: Type.Optional(nullable(Bytes)),
  }),
})
export type AuthenticationCredential = Static<typeof AuthenticationCredential>
