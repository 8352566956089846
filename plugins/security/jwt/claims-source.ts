/** What an access token is built from. */
import type { Config } from '../../../config/groups/index.ts'
import type { SessionState, TokenSession } from '../../../db/sessions/sessions.ts'
import type { AccessToken } from '../../../schemas/access-token.ts'
import type { VerifiedContacts } from '../../../schemas/oauth/shared-metadata.ts'

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
    Partial<
      Pick<
        TokenSession,
        | 'not_after'
        | 'refreshed_at'
        | 'impersonated_by'
        | 'oauth_client_id'
        | 'scopes'
        | 'organization'
      >
    > & {
      /** Of a token for an OAuth client. */
      audience?: readonly string[]
      clientId?: string
      userinfoClaims?: readonly string[]
      verified?: VerifiedContacts
      hasDataAccess?: boolean
    }
  amr: AccessToken['amr']
  config: Pick<
    Config,
    | 'AUTH_API_EXTERNAL_URL'
    | 'AUTH_JWT_ALLOWED_AUDIENCES'
    | 'AUTH_JWT_AUD'
    | 'AUTH_JWT_EXP'
    | 'AUTH_JWT_ISSUER'
    | 'AUTH_ORGANIZATIONS_CLAIMS'
    | 'AUTH_SESSIONS_ALLOW_LOW_AAL'
    | 'AUTH_SESSIONS_INACTIVITY_TIMEOUT'
    | 'AUTH_SESSIONS_TIMEBOX'
    | 'AUTH_USERNAMES_ENABLED'
  >
  now: Date
}
