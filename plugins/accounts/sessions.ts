/** Sessions: opening one, refreshing one, and what a client is told about it. */
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

import type { AuditEntry } from '../../db/audit-log-entries.ts'
import type { Db } from '../../db/database.ts'
import type { AmrClaim } from '../../db/mfa.ts'
import { insertSession, type SessionState } from '../../db/sessions.ts'
import type { UserRecord } from '../../db/users.ts'
import { ApiError } from '../../errors.ts'
import type { Session } from '../../schemas/session.ts'
import { toUser } from '../../schemas/user.ts'

import type { Client } from '../client-ip.ts'
import type { SessionPolicy } from '../session-policy.ts'
import { liveSessions } from './sessions/devices.ts'
import { exchangeLegacyToken, isLegacyToken } from './sessions/legacy-token.ts'
import { refreshSession } from './sessions/refresh.ts'
import { encodeRefreshToken } from './sessions/refresh-token.ts'
import { createSessionKeys } from './sessions/session-key.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sessions: ReturnType<typeof createSessions>
  }
}

/** How a person proved who they are; the `amr` of the session. */
export type AuthenticationMethod =
  | 'password'
  | 'otp'
  | 'anonymous'
  | 'oauth'
  | 'recovery'
  | 'magiclink'
  | 'email/signup'
  | 'email_change'
  | 'invite'
  | 'impersonation'

interface SessionDeps {
  db: Db
  encryption: FastifyInstance['encryption']
  policy: SessionPolicy
  accessTokenSeconds: number
  audit: FastifyInstance['audit']
  metrics: FastifyInstance['metrics']
  signAccessToken: (person: UserRecord, session: AccessTokenSession, now: Date) => Promise<string>
}

type AccessTokenSession = Pick<
  SessionState,
  'session_id' | 'session_created_at' | 'not_after' | 'postern_impersonated_by' | 'amr'
>

export interface Opening {
  method: AuthenticationMethod
  client: Client
  /** Written in the same statement. */
  audit?: AuditEntry | undefined
  /** Seconds after which the session ends whatever happens. */
  lifetimeSeconds?: number
  /** The admin for whom the session is opened, in place of the person. */
  impersonatedBy?: string
}

export function createSessions(deps: SessionDeps) {
  const { db, encryption, policy, accessTokenSeconds, audit, metrics, signAccessToken } = deps
  const keys = createSessionKeys(encryption)

  async function toSession(
    person: UserRecord,
    session: AccessTokenSession,
    refreshToken: string,
    now: Date,
  ): Promise<Session> {
    const seconds = secondsUntil(session.not_after, accessTokenSeconds, now)
    return {
      access_token: await signAccessToken(person, session, now),
      token_type: 'bearer',
      expires_in: seconds,
      expires_at: Math.floor(now.getTime() / 1000) + seconds,
      refresh_token: refreshToken,
      user: toUser(person),
    }
  }

  return {
    /** Opens a session for a person whose proof was just accepted. */
    async issue(db: Db, person: UserRecord, opening: Opening, now: Date): Promise<Session> {
      const id = crypto.randomUUID()
      const key = keys.derive(id)
      const { lifetimeSeconds, impersonatedBy = null } = opening
      const session = {
        id,
        user_id: person.id,
        aal: 'aal1' as const,
        tag: policy.tagOf(opening.client),
        user_agent: opening.client.userAgent,
        ip: opening.client.ip,
        not_after: lifetimeSeconds ? new Date(now.getTime() + lifetimeSeconds * 1000) : null,
        refresh_token_hmac_key: keys.seal(id, key),
        postern_impersonated_by: impersonatedBy,
      }
      await insertSession(db, session, opening.method, opening.audit, now)
      metrics.count('postern.sign_ins', { method: opening.method, outcome: 'accepted' })
      const amr: AmrClaim[] = [
        { method: opening.method, timestamp: Math.floor(now.getTime() / 1000) },
      ]
      const signedIn = {
        ...person,
        updated_at: now,
        ...(!impersonatedBy && { last_sign_in_at: now }),
      }
      const described = { ...session, session_id: id, session_created_at: now, amr }
      return toSession(signedIn, described, encodeRefreshToken(id, 0, key), now)
    },

    /** Where the person is signed in: sessions that can still be refreshed, last used first. */
    list: (db: Db, userId: string, now: Date) => liveSessions(db, userId, policy, now),

    /**
     * Exchanges a refresh token. Throws validation_failed, refresh_token_not_found, refresh_token_already_used,
     * session_expired, user_banned or conflict; what a refusal had to write is committed by then.
     */
    async refresh(presented: string, client: Client, now: Date) {
      const exchange = isLegacyToken(presented) ? exchangeLegacyToken : refreshSession
      const outcome = await exchange({ db, keys, policy, audit }, presented, client, now)
      metrics.count('postern.token_refreshes', { outcome: nameOf(outcome) })
      if (outcome instanceof ApiError) throw outcome
      const { record, token } = outcome
      return { session: await toSession(record, record, token, now), outcome: outcome.outcome }
    },
  }
}

/** As the metric calls it. */
function nameOf(outcome: ApiError | { outcome: string }): string {
  if (!(outcome instanceof ApiError)) return outcome.outcome
  return outcome.errorCode === 'refresh_token_already_used' ? 'reuse_detected' : 'refused'
}

/** How long an access token of the session may live: no longer than the session itself. */
function secondsUntil(end: Date | null, most: number, now: Date): number {
  if (!end) return most
  return Math.min(most, Math.floor(end.getTime() / 1000) - Math.floor(now.getTime() / 1000))
}

async function sessions(fastify: FastifyInstance) {
  const { config, db, encryption, audit, jwt, metrics, sessionPolicy: policy } = fastify
  const decorator = createSessions({
    db,
    encryption,
    policy,
    accessTokenSeconds: config.AUTH_JWT_EXP,
    audit,
    metrics,
    signAccessToken: (person, session, now) => jwt.signAccessToken(person, session, now),
  })
  fastify.decorate('sessions', decorator)
}

export default fp(sessions, {
  name: 'sessions',
  fastify: '5.x',
  dependencies: ['config', 'db', 'encryption', 'audit', 'jwt', 'client-ip', 'session-policy'],
})
