/** What an access token says about a person and the session they are in. */
import type { SessionState, TokenSession } from '../../db/sessions.ts'
import type { AccessToken } from '../../schemas/access-token.ts'
import type { Config } from '../config/config.ts'

export interface ClaimsSource {
  user: Pick<
    TokenSession,
    | 'id'
    | 'aud'
    | 'role'
    | 'email'
    | 'phone'
    | 'raw_app_meta_data'
    | 'raw_user_meta_data'
    | 'is_anonymous'
    | 'factors'
  >
  session: Pick<SessionState, 'session_id' | 'session_created_at' | 'aal'> &
    Partial<Pick<TokenSession, 'not_after' | 'impersonated_by'>>
  amr: AccessToken['amr']
  config: Pick<
    Config,
    'AUTH_API_EXTERNAL_URL' | 'AUTH_JWT_EXP' | 'AUTH_JWT_ISSUER' | 'AUTH_SESSIONS_ALLOW_LOW_AAL'
  >
  now: Date
}

/** Who signs here, in the words of the operator. */
export function issuerOf(
  config: Pick<Config, 'AUTH_API_EXTERNAL_URL' | 'AUTH_JWT_ISSUER'>,
): string {
  return config.AUTH_JWT_ISSUER ?? config.AUTH_API_EXTERNAL_URL
}

/** Every claim is there in every token, empty where the person has no such thing. */
export function accessTokenClaims(source: ClaimsSource): AccessToken {
  const { user, session, config, now } = source
  const amr = source.amr.toSorted((a, b) => b.timestamp - a.timestamp)
  return {
    iss: issuerOf(config),
    sub: user.id,
    aud: user.aud ?? '',
    role: user.role ?? '',
    iat: toSeconds(now),
    exp: expiryOf(source),
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.raw_app_meta_data ?? {},
    user_metadata: user.raw_user_meta_data ?? {},
    aal: aalOf(session),
    amr,
    session_id: session.session_id,
    is_anonymous: user.is_anonymous,
    ...(session.impersonated_by && { act: { sub: session.impersonated_by } }),
  }
}

/** What the gates of the server read, too, so that a token never claims more than they grant. */
function aalOf({ aal }: ClaimsSource['session']): 'aal1' | 'aal2' {
  return aal === 'aal2' || aal === 'aal3' ? 'aal2' : 'aal1'
}

/** No token outlives its session. A session that still owes its second factor must not outlive its allowance by a token. */
function expiryOf({ user, session, config, now }: Omit<ClaimsSource, 'amr'>): number {
  const end = session.not_after ? toSeconds(session.not_after) : Number.POSITIVE_INFINITY
  const expiry = Math.min(toSeconds(now) + config.AUTH_JWT_EXP, end)
  const allowance = config.AUTH_SESSIONS_ALLOW_LOW_AAL
  const owesFactor =
    aalOf(session) === 'aal1' && user.factors.some(({ status }) => status === 'verified')
  if (allowance === undefined || !owesFactor || !session.session_created_at) return expiry
  return Math.min(expiry, Math.floor(toSeconds(session.session_created_at) + allowance))
}

function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000)
}
