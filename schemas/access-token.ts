import { type Static, Type } from '@sinclair/typebox'

import { isUuid, Metadata } from './fields.ts'
import { Act, type Acting } from './values/acting.ts'
import { isRecord } from './values/record.ts'

const AuthenticationMethod = Type.Object({
  method: Type.String(),
  timestamp: Type.Integer({ description: 'Seconds since the Unix epoch' }),
  provider: Type.Optional(Type.String()),
})

const Aal = Type.Union([Type.Literal('aal1'), Type.Literal('aal2'), Type.Literal('aal3')])

/** The payload of a user's access token (RFC 7519): every claim is present. */
export const AccessToken = Type.Object(
  {
    iss: Type.String(),
    sub: Type.String({ format: 'uuid' }),
    aud: Type.Union([Type.String(), Type.Array(Type.String())]),
    role: Type.String(),
    iat: Type.Integer(),
    exp: Type.Integer(),
    email: Type.String(),
    phone: Type.String({ description: 'E.164 digits without the leading +' }),
    preferred_username: Type.Optional(
      Type.String({ description: 'The username, with AUTH_USERNAMES_ENABLED' }),
    ),
    app_metadata: Metadata,
    user_metadata: Metadata,
    aal: Aal,
    amr: Type.Array(AuthenticationMethod, { description: 'Newest first' }),
    session_id: Type.String({ format: 'uuid' }),
    is_anonymous: Type.Boolean(),
    act: Type.Optional(Act),
    client_id: Type.Optional(Type.String({ description: 'The OAuth client it was issued to' })),
    scope: Type.Optional(Type.String({ description: 'What the OAuth client may do' })),
    org_id: Type.Optional(
      Type.String({ format: 'uuid', description: 'The active organization of the session' }),
    ),
    org_slug: Type.Optional(Type.String()),
    org_role: Type.Optional(Type.String()),
    org_permissions: Type.Optional(
      Type.Array(Type.String(), { description: '`*` for all; absent with more than 32' }),
    ),
    userinfo_claims: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Claims of /oauth/userinfo in addition to its scopes',
      }),
    ),
  },
  { title: 'AccessToken' },
)
export type AccessToken = Static<typeof AccessToken>

/**
 * Claims that this server reads in a verified token. Tokens signed with AUTH_JWT_SECRET by others may lack any of them
 * and have more, but these have these types.
 */
export const AccessTokenClaims = Type.Object({
  iss: Type.Optional(Type.String()),
  sub: Type.Optional(Type.String()),
  aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  role: Type.Optional(Type.String()),
  act: Type.Optional(Type.Unknown()),
  iat: Type.Optional(Type.Number()),
  nbf: Type.Optional(Type.Number()),
  exp: Type.Optional(Type.Number()),
  aal: Type.Optional(Aal),
  session_id: Type.Optional(Type.String()),
  is_anonymous: Type.Optional(Type.Boolean()),
  client_id: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  userinfo_claims: Type.Optional(Type.Array(Type.String())),
  jti: Type.Optional(Type.String()),
})
export type AccessTokenClaims = Static<typeof AccessTokenClaims>

/**
 * The claims returned by a hook: these are required with these types, others are the operator's. A superset of what
 * this server reads in a token.
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
  act: Type.Optional(Act),
  client_id: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
})
export type HookClaims = Static<typeof HookClaims>

/** The user id of the token; undefined without one, and when `sub` is no UUID, as in tokens of services. */
export function subjectUserId(claims: AccessTokenClaims | null): string | undefined {
  const sub = claims?.sub
  return sub && isUuid(sub) ? sub : undefined
}

/** An admin created the session to act as the user (RFC 8693 §4.1). */
export function isImpersonated(claims: AccessTokenClaims): boolean {
  return 'act' in claims
}

/** Who a token makes the actor: the user, and the admin who impersonates them. */
export function toActing(claims: AccessTokenClaims, userId: string): Acting {
  const actor = { type: 'user' as const, id: userId }
  if (!isImpersonated(claims)) return { actor }
  const { sub } = isRecord(claims.act) ? claims.act : {}
  return { actor, act: { sub: String(sub ?? '') } }
}
