/** An access token that would be too long is issued without metadata: large metadata must not lock its user out. */
import type { FastifyBaseLogger } from 'fastify'

import type { HookClaims } from '../../../schemas/access-token.ts'
import { tokenTooLarge } from '../../../schemas/errors.ts'

/** Proxies and servers that receive the token accept little more than this in one header. */
export const maxTokenLength = 16_384

const metadataClaims = ['user_metadata', 'app_metadata'] as const

interface Deps {
  sign: (claims: HookClaims) => Promise<string>
  log: Pick<FastifyBaseLogger, 'warn'> | undefined
}

/** Throws token_too_large when the other claims do not fit either. */
export async function signWithinLimit(claims: HookClaims, { sign, log }: Deps): Promise<string> {
  const whole = await sign(claims)
  if (whole.length <= maxTokenLength) return whole
  for (const smaller of withoutMetadata(claims)) {
    const token = await sign(smaller)
    if (token.length > maxTokenLength) continue
    const omitted = metadataClaims.filter((name) => name in claims && !(name in smaller))
    log?.warn({ user_id: claims.sub, omitted }, 'access token issued without large metadata')
    return token
  }
  throw tokenTooLarge(largest(claims), maxTokenLength)
}

/**
 * The claims to sign when the claims are too large, preferred ones first. Users write user_metadata themselves: its
 * size must not cause app_metadata to be dropped, which policies may use to deny access.
 */
function withoutMetadata(claims: HookClaims): HookClaims[] {
  const { user_metadata: _user, ...withoutUser } = claims
  const { app_metadata: _app, ...withoutApp } = claims
  const { app_metadata: _both, ...withoutBoth } = withoutUser
  return [withoutUser, withoutApp, withoutBoth]
}

/** The largest claim. */
function largest(claims: HookClaims): string {
  const sizes = Object.entries(claims).map(([name, claim]) => ({
    name,
    size: JSON.stringify(claim)?.length ?? 0,
  }))
  return sizes.toSorted((a, b) => b.size - a.size)[0]?.name ?? ''
}
