/** Builds a session before its insertion: the stored values and the response. */
import type { FastifyInstance } from 'fastify'

import type { NewAuditLogEntry } from '../../db/audit/audit-log-entries.ts'
import type { NewSession, SessionInsert } from '../../db/sessions/insert-parts.ts'
import type { AmrClaim } from '../../db/tables/factors.ts'
import type { ClientGrant } from '../../db/tables/oauth-server.ts'
import type { Aal, AmrMethod } from '../../db/tables/sessions.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { ClientInfo } from '../../plugins/http/client-info/index.ts'
import { deviceHash } from '../otp/index.ts'
import { deriveKey, encodeRefreshToken, encryptKey } from './refresh-token.ts'
import type { AccessTokenInput, GrantedScope } from './token-response.ts'

/** A password authentication is valid while the stored hash is the one that matched. */
type Accepted =
  | { method: 'password'; passwordHash: string }
  | { method: Exclude<AmrMethod, 'password'>; passwordHash?: undefined }

/** The authentication, its device, and the limits of the session. */
export type AuthenticationEvent = Accepted & {
  clientInfo: ClientInfo
  /** Inserted by the same statement. */
  audit?: NewAuditLogEntry | undefined
  /** The absolute lifetime in seconds. */
  lifetimeSeconds?: number
  /** The absolute end, if it is given as a time. */
  notAfter?: Date | undefined
  /** The admin who impersonates the user. */
  impersonatedBy?: string
  /** The user's grant for the OAuth client of the session. */
  grant?: ClientGrant & Required<Omit<GrantedScope, 'scopes' | 'userinfoClaims'>>
  /** aal1 when absent. */
  aal?: Aal
  /** The code of an `otp` was sent by SMS. */
  bySms?: boolean
}

interface SessionDraft {
  opening: SessionInsert
  facts: AccessTokenInput
}

export function buildSession(
  app: FastifyInstance,
  user: UserRecord,
  authentication: AuthenticationEvent,
  now: Date,
): SessionDraft {
  const { method, impersonatedBy, passwordHash, grant } = authentication
  const id = crypto.randomUUID()
  const key = deriveKey(app, id)
  const encrypted = { id, refresh_token_hmac_key: encryptKey(app, id, key) }
  const session = { ...newSession(app, user, authentication, now), ...encrypted }
  const amr: AmrClaim[] = [{ method, timestamp: Math.floor(now.getTime() / 1000) }]
  const signedIn = grant ? user : withSignInTimes(user, authentication, now)
  const described = {
    session_id: id,
    session_created_at: now,
    aal: session.aal,
    amr,
    not_after: session.not_after,
    impersonated_by: impersonatedBy ?? null,
    ...(grant && {
      oauth_client_id: grant.oauth_client_id,
      clientId: grant.clientId,
      scopes: grant.scopes,
      audience: grant.audience,
      verified: grant.verified,
      hasDataAccess: grant.hasDataAccess,
      userinfoClaims: grant.userinfo_claims,
    }),
  }
  const refreshToken = encodeRefreshToken(id, 0, key)
  const facts = {
    user: signedIn,
    session: described,
    refreshToken,
    method,
    ip: authentication.clientInfo.ip,
  }
  const audit = buildAuditEntry(app, session, authentication)
  const known = {
    deviceHash: hashUserDevice(app, authentication),
    bySms: authentication.bySms ?? false,
  }
  const opening = { session, grant, method, impersonatedBy, passwordHash, audit, ...known }
  return { opening, facts }
}

/** The user after the statement that stores the session. */
function withSignInTimes(
  user: UserRecord,
  { impersonatedBy }: AuthenticationEvent,
  now: Date,
): UserRecord {
  return { ...user, updated_at: now, ...(!impersonatedBy && { last_sign_in_at: now }) }
}

/** The audit entry and event of the sign-in; undefined for an impersonation. */
function buildAuditEntry(
  { events }: FastifyInstance,
  { id: session_id, user_id, aal, ip, user_agent }: Omit<NewSession, 'refresh_token_hmac_key'>,
  { method, impersonatedBy, audit, grant }: AuthenticationEvent,
): NewAuditLogEntry {
  const facts = { session_id, method, aal, ip, user_agent }
  const signedIn = impersonatedBy || grant ? [] : events.draft('user.signed_in', user_id, facts)
  return { entry: audit?.entry, events: [...(audit?.events ?? []), ...signedIn] }
}

/** The hash of the device, which is known after the sign-in. */
function hashUserDevice(app: FastifyInstance, authentication: AuthenticationEvent): string | null {
  return isUserDevice(authentication) ? deviceHash(app, authentication.clientInfo) : null
}

/** Impersonating admins, OAuth clients and anonymous users do not use a device of the user. */
export function isUserDevice({ method, impersonatedBy, grant }: AuthenticationEvent): boolean {
  return !impersonatedBy && !grant && method !== 'anonymous'
}

function newSession(
  { bearerAuth }: FastifyInstance,
  { id }: UserRecord,
  { clientInfo, lifetimeSeconds, notAfter, aal = 'aal1' }: AuthenticationEvent,
  now: Date,
): Omit<NewSession, 'id' | 'refresh_token_hmac_key'> {
  return {
    user_id: id,
    aal,
    tag: bearerAuth.sessionPolicy.resolveTag(clientInfo),
    user_agent: clientInfo.userAgent,
    ip: clientInfo.ip,
    not_after: lifetimeSeconds
      ? new Date(now.getTime() + lifetimeSeconds * 1000)
      : (notAfter ?? null),
  }
}
