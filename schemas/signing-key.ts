import { type Static, Type } from '@sinclair/typebox'

import { nullable, oneOf } from './choices.ts'

/** A public key as a JWKS shows it (RFC 7517 §4); a response schema, so that nothing private can pass. */
export const PublicJwk = Type.Object(
  {
    kty: Type.String(),
    kid: Type.String(),
    alg: Type.String(),
    use: Type.Literal('sig'),
    key_ops: Type.Array(Type.Literal('verify')),
    n: Type.Optional(Type.String()),
    e: Type.Optional(Type.String()),
    crv: Type.Optional(Type.String()),
    x: Type.Optional(Type.String()),
    y: Type.Optional(Type.String()),
  },
  { title: 'PublicJwk', additionalProperties: false },
)
export type PublicJwk = Static<typeof PublicJwk>

export const PublicKeys = Type.Object({ keys: Type.Array(PublicJwk) })

const Time = nullable(Type.String({ format: 'date-time' }))

export const SigningKey = Type.Object(
  {
    kid: Type.String(),
    alg: Type.String(),
    state: oneOf(['standby', 'current', 'previous', 'revoked'], {
      description:
        'standby: shown in the JWKS, not signing yet. current: signs. ' +
        'previous: verifies until its last token has expired. revoked: verifies nothing.',
    }),
    created_at: Type.String({ format: 'date-time' }),
    activates_at: Time,
    retires_at: Time,
    revoked_at: Time,
  },
  { title: 'SigningKey' },
)
export type SigningKey = Static<typeof SigningKey>

export interface SigningKeySource {
  kid: string
  alg: string
  state: SigningKey['state']
  created_at: Date
  activates_at: Date | null
  retires_at: Date | null
  revoked_at: Date | null
}

export function toSigningKey(row: SigningKeySource): SigningKey {
  return {
    kid: row.kid,
    alg: row.alg,
    state: row.state,
    created_at: row.created_at.toISOString(),
    activates_at: row.activates_at?.toISOString() ?? null,
    retires_at: row.retires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }
}
