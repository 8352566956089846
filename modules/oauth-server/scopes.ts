/** Scopes of OpenID Connect, and custom scopes for resource servers. */
import type { FastifyInstance } from 'fastify'

const standardScopes = ['openid', 'profile', 'email', 'phone', 'address', 'offline_access']

export function supportedScopes({
  AUTH_OAUTH_SERVER_SCOPES,
}: Pick<FastifyInstance['config'], 'AUTH_OAUTH_SERVER_SCOPES'>): string[] {
  return [...standardScopes, ...AUTH_OAUTH_SERVER_SCOPES]
}

/** The distinct names of a scope parameter (RFC 6749 §3.3). */
export function scopeList(scope: string): string[] {
  return [...new Set(scope.split(' ').filter(Boolean))]
}

/** Whether all of them were granted. */
export function covers(granted: string, requested: string): boolean {
  const names = scopeList(granted)
  return scopeList(requested).every((name) => names.includes(name))
}
