/** A session as its client is answered: an access token, the refresh token and the person. */
import type { TokenSession } from '../../../db/sessions.ts'
import type { UserRecord } from '../../../db/users.ts'
import type { Session } from '../../../schemas/session.ts'
import { toUser } from '../../../schemas/user.ts'
import type { House } from '../../define-plugin.ts'

type AccessTokenSession = Pick<
  TokenSession,
  'session_id' | 'session_created_at' | 'aal' | 'not_after' | 'impersonated_by' | 'amr'
>

export async function toSession(
  { jwt }: House<'jwt'>,
  person: UserRecord,
  session: AccessTokenSession,
  refreshToken: string,
  now: Date,
): Promise<Session> {
  const expiresAt = jwt.expiryOf(person, session, now)
  return {
    access_token: await jwt.signAccessToken(person, session, now),
    token_type: 'bearer',
    expires_in: expiresAt - Math.floor(now.getTime() / 1000),
    expires_at: expiresAt,
    refresh_token: refreshToken,
    user: toUser(person),
  }
}
