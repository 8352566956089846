import { type Static, Type } from '@sinclair/typebox'

import { nullable, StringEnum } from './values/choices.ts'

/** A public key of a JWKS (RFC 7517 §4). As a response schema it drops private parameters. */
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
    state: StringEnum(['standby', 'current', 'previous', 'revoked'], {
      description:
        'standby: published in the JWKS, not signing yet. current: signs. ' +
        'previous: verifies until its last token has expired. revoked: verifies nothing.',
    }),
    created_at: Type.String({ format: 'date-time' }),
    activates_at: Time,
    retires_at: Time,
    revoked_at: Time,
    pinned_by: Type.Array(
      Type.Object({ jti: Type.String(), role: Type.String(), expires_at: Time }),
      { description: 'Valid service tokens signed with the key' },
    ),
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

interface Pin {
  jti: string
  role: string | null
  expires_at: Date | null
}

export function toSigningKey(row: SigningKeySource, pins: readonly Pin[]): SigningKey {
  return {
    kid: row.kid,
    alg: row.alg,
    state: row.state,
    created_at: row.created_at.toISOString(),
    activates_at: row.activates_at?.toISOString() ?? null,
    retires_at: row.retires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    pinned_by: pins.map(({ jti, role, expires_at }) => ({
      jti,
      role: role ?? '',
      expires_at: expires_at?.toISOString() ?? null,
    })),
  }
}
