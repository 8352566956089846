/** The claims of an access token: the user and their session. */
import type { Config } from '../../../config/groups/index.ts'
import type { ActiveOrganization } from '../../../db/organizations/active.ts'
import type { AccessToken } from '../../../schemas/access-token.ts'
import { isForUs } from '../../../schemas/audience.ts'
import { validationFailed } from '../../../schemas/errors.ts'
import { shareMetadata } from '../../../schemas/oauth/shared-metadata.ts'
import { effectivePermissions } from '../../../schemas/organizations/permissions.ts'
import type { ClaimsSource } from './claims-source.ts'

// What an access token of an OAuth client has of the user: by its scopes, and by its access to the user's data.

/**
 * The role of a client that may not read the user's data. The database does not have it, so that no policy applies; an
 * operator may create it for what such clients may read.
 */
const clientRole = 'oauth_client'

/** The role of the user, unless the token is for a client without access to the user's data. */
function getRole({ user, session }: ClaimsSource): string {
  return session.oauth_client_id && !session.hasDataAccess ? clientRole : (user.role ?? '')
}

/** A client reads its token, so claims about the user are limited to the granted scopes. */
function getContacts(source: ClaimsSource) {
  const { user, config } = source
  const grants = listGrants(source)
  return {
    email: grants('email') ? (user.email ?? '') : '',
    phone: grants('phone') ? (user.phone ?? '') : '',
    user_metadata: grants('profile') ? getUserMetadata(source) : {},
    ...(config.AUTH_USERNAMES_ENABLED && grants('profile') && getUsername(user)),
  }
}

/** Whether a scope is granted: all of them for the user's own token. */
function listGrants({ session }: ClaimsSource): (scope: string) => boolean {
  if (!session.oauth_client_id) return () => true
  const scopes = (session.scopes ?? '').split(' ')
  return (scope) => scopes.includes(scope)
}

function getUserMetadata(source: ClaimsSource) {
  const { user, session } = source
  const { email, phone, raw_user_meta_data: metadata } = user
  if (!session.oauth_client_id) return metadata ?? {}
  const grants = listGrants(source)
  const shared = { email: grants('email'), phone: grants('phone'), address: grants('address') }
  return shareMetadata(
    { email, phone, metadata },
    shared,
    session.verified ?? { email: false, phone: false },
  )
}

/** For the operator's policies; a client without access to the user's data has no use for it. */
function getAppMetadata(source: ClaimsSource) {
  const { user, session } = source
  if (session.oauth_client_id && !session.hasDataAccess) return {}
  const metadata = user.raw_app_meta_data ?? {}
  if (listGrants(source)('profile')) return metadata
  const { preferred_username: _, ...rest } = metadata
  return rest
}

/** Written by the server only: a user may claim any name in user_metadata. */
function getUsername({ raw_app_meta_data: metadata }: ClaimsSource['user']) {
  const username = metadata?.preferred_username
  return typeof username === 'string' ? { preferred_username: username } : undefined
}

function clientClaims({
  clientId,
  oauth_client_id: id,
  scopes,
  userinfoClaims = [],
}: ClaimsSource['session']) {
  return {
    client_id: clientId ?? id ?? '',
    scope: scopes ?? '',
    ...(userinfoClaims.length > 0 && { userinfo_claims: [...userinfoClaims] }),
  }
}

/** More would make every request larger: the token then has the role only. */
const maxPermissions = 32

/** The claims of an access token about the active organization. */
function getOrganizationClaims(
  { id, slug, role, permissions: stored }: ActiveOrganization,
  claims: Config['AUTH_ORGANIZATIONS_CLAIMS'],
): Partial<AccessToken> {
  const permissions = effectivePermissions(role, stored)
  return {
    ...(claims.includes('org_id') && { org_id: id }),
    ...(claims.includes('org_slug') && { org_slug: slug }),
    ...(claims.includes('org_role') && { org_role: role }),
    ...(claims.includes('org_permissions') &&
      permissions.length <= maxPermissions && { org_permissions: permissions }),
  }
}

const unlimited = Number.POSITIVE_INFINITY

/** The issuer, as the operator configured it. */
export function getIssuer(
  config: Pick<Config, 'AUTH_API_EXTERNAL_URL' | 'AUTH_JWT_ISSUER'>,
): string {
  return config.AUTH_JWT_ISSUER ?? config.AUTH_API_EXTERNAL_URL
}

/**
 * Every claim is in every token, empty when the user has no value. Throws validation_failed for a row with an audience
 * that is not allowed.
 */
export function accessTokenClaims(source: ClaimsSource): AccessToken {
  const { user, session, config, now } = source
  if (!isForUs(config, user.aud ?? undefined)) {
    throw validationFailed('This user has an audience that this server does not accept', 422)
  }
  const amr = source.amr.map(withProvider(user)).toSorted((a, b) => b.timestamp - a.timestamp)
  return {
    iss: getIssuer(config),
    sub: user.id,
    aud: getAudience(source),
    role: getRole(source),
    iat: toSeconds(now),
    exp: computeExpiry(source),
    ...getContacts(source),
    app_metadata: getAppMetadata(source),
    aal: getAal(session),
    amr,
    session_id: session.session_id,
    is_anonymous: user.is_anonymous,
    ...(session.impersonated_by && { act: { sub: session.impersonated_by } }),
    ...(session.oauth_client_id && clientClaims(session)),
    ...(session.organization &&
      getOrganizationClaims(session.organization, config.AUTH_ORGANIZATIONS_CLAIMS)),
  }
}

/** A single audience is a string, as clients of the database expect it (RFC 7519 §4.1.3). */
function getAudience({ user, session: { audience } }: ClaimsSource): string | string[] {
  const [first = user.aud ?? '', ...others] = audience ?? []
  return others.length > 0 ? [first, ...others] : first
}

/** The provider's id of a SAML sign-in. */
function withProvider({ raw_app_meta_data: metadata }: ClaimsSource['user']) {
  const provider = String(metadata?.provider ?? '')
  return (entry: AccessToken['amr'][number]) =>
    entry.method === 'sso/saml' && provider.startsWith('sso:')
      ? { ...entry, provider: provider.slice('sso:'.length) }
      : entry
}

/** The same function as the server's own checks, so that a token never claims more than they grant. */
function getAal({ aal }: ClaimsSource['session']): 'aal1' | 'aal2' {
  return aal === 'aal2' || aal === 'aal3' ? 'aal2' : 'aal1'
}

/** No token outlives its session, nor the limited time of a session without its required second factor. */
function computeExpiry({ user, session, config, now }: Omit<ClaimsSource, 'amr'>): number {
  const openedAt = session.session_created_at
  const usedAt = session.refreshed_at ?? openedAt ?? now
  const ends = [
    toSeconds(now) + config.AUTH_JWT_EXP,
    toSeconds(usedAt) + (config.AUTH_SESSIONS_INACTIVITY_TIMEOUT ?? unlimited),
    session.not_after ? toSeconds(session.not_after) : unlimited,
  ]
  if (openedAt) {
    const requiresFactor =
      getAal(session) === 'aal1' && user.factors.some(({ status }) => status === 'verified')
    const isLimited = requiresFactor && !session.oauth_client_id
    const allowance = isLimited ? config.AUTH_SESSIONS_ALLOW_LOW_AAL : undefined
    ends.push(toSeconds(openedAt) + (config.AUTH_SESSIONS_TIMEBOX ?? unlimited))
    ends.push(toSeconds(openedAt) + (allowance ?? unlimited))
  }
  return Math.min(...ends.map(Math.floor))
}

function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
