import { type Static, Type } from '@sinclair/typebox'

import { isUuid, Metadata } from './fields.ts'

export const AuthenticationMethod = Type.Object({
  method: Type.String(),
  timestamp: Type.Integer({ description: 'Seconds since the epoch' }),
  provider: Type.Optional(Type.String()),
})

const Aal = Type.Union([Type.Literal('aal1'), Type.Literal('aal2'), Type.Literal('aal3')])

/** The payload of a person's access token (RFC 7519): every claim is always there. */
export const AccessToken = Type.Object(
  {
    iss: Type.String(),
    sub: Type.String({ format: 'uuid' }),
    aud: Type.String(),
    role: Type.String(),
    iat: Type.Integer(),
    exp: Type.Integer(),
    email: Type.String(),
    phone: Type.String({ description: 'E.164 digits without the leading +' }),
    app_metadata: Metadata,
    user_metadata: Metadata,
    aal: Aal,
    amr: Type.Array(AuthenticationMethod, { description: 'Newest first' }),
    session_id: Type.String({ format: 'uuid' }),
    is_anonymous: Type.Boolean(),
    act: Type.Optional(
      Type.Object(
        { sub: Type.String() },
        { description: 'The admin who acts in place of the person (RFC 8693 §4.1)' },
      ),
    ),
  },
  { title: 'AccessToken' },
)
export type AccessToken = Static<typeof AccessToken>

/**
 * What is relied on in a token that verified. Tokens made with AUTH_JWT_SECRET by somebody else may lack
 * any claim and carry others, but what is here has these types.
 */
export const AccessTokenClaims = Type.Object({
  iss: Type.Optional(Type.String()),
  sub: Type.Optional(Type.String()),
  aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  role: Type.Optional(Type.String()),
  iat: Type.Optional(Type.Number()),
  nbf: Type.Optional(Type.Number()),
  exp: Type.Optional(Type.Number()),
  aal: Type.Optional(Aal),
  session_id: Type.Optional(Type.String()),
  is_anonymous: Type.Optional(Type.Boolean()),
})
export type AccessTokenClaims = Static<typeof AccessTokenClaims>

/**
 * What a hook may make of the claims: these are there and have these types, others are the operator's. What is relied on
 * in a token is a part of it.
 */
export const HookClaims = Type.Object({
  sub: Type.String(),
  aud: Type.Union([Type.String(), Type.Array(Type.String())]),
  role: Type.String(),
  iat: Type.Integer(),
  exp: Type.Integer(),
  email: Type.String(),
  phone: Type.String(),
  aal: Aal,
  session_id: Type.String(),
  is_anonymous: Type.Boolean(),
  iss: Type.Optional(Type.String()),
  jti: Type.Optional(Type.String()),
  nbf: Type.Optional(Type.Integer()),
  app_metadata: Type.Optional(Metadata),
  user_metadata: Type.Optional(Metadata),
  amr: Type.Optional(Type.Array(Type.Unknown())),
  act: Type.Optional(Type.Object({ sub: Type.String() })),
})
export type HookClaims = Static<typeof HookClaims>

/** The person whom the token names; a service may call itself something that is no UUID, and is nobody's account. */
export function personIn({ sub }: AccessTokenClaims): string | undefined {
  return sub && isUuid(sub) ? sub : undefined
}

/** An admin opened the session in the place of the person (RFC 8693 §4.1). */
export function isImpersonated(claims: AccessTokenClaims): boolean {
  return 'act' in claims
}
