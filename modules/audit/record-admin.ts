/** Audit entries of admin actions. */
import type { Db, Trx } from '../../db/core/database.ts'
import { findUser, type UserRecord } from '../../db/users/users.ts'
import { type AccessTokenClaims, subjectUserId } from '../../schemas/access-token.ts'
import { notAdmin } from '../../schemas/errors.ts'
import type { AuditAction } from './actions.ts'
import { type AuditSettings, adminActor, recordAudit } from './entry.ts'

/** The parts of an admin's request that are recorded. */
interface RecordedRequest {
  admin: AccessTokenClaims | null
  clientIp: string
  clientInfo: { userAgent: string | null }
}

/** The affected user. */
interface Subject {
  id: string
  email: string | null
  phone: string | null
}

type Traits = { now: Date } & Record<string, unknown>

/** The user of an admin's token; undefined for the token of a service, which has none. */
export async function findAdminUser(
  db: Db,
  admin: AccessTokenClaims | null,
): Promise<UserRecord | undefined> {
  const id = subjectUserId(admin)
  return id ? findUser(db, id) : undefined
}

/** Records an action on a user in its transaction. Throws not_admin for a request without an admin. */
export function recordAdminActionOnUser(
  settings: AuditSettings,
  trx: Trx,
  action: AuditAction,
  request: RecordedRequest,
  { id, email, phone }: Subject,
  traits: Traits,
): Promise<void> {
  const user = { user_id: id, user_email: email ?? '', user_phone: phone ?? '' }
  return recordAdminAction(settings, trx, action, request, { ...user, ...traits })
}

/** Records an action that concerns no user; the payload names its object. */
export async function recordAdminAction(
  settings: AuditSettings,
  trx: Trx,
  action: AuditAction,
  { admin, clientIp, clientInfo }: RecordedRequest,
  { now, ...traits }: Traits,
): Promise<void> {
  if (!admin) throw notAdmin()
  const actor = (await findAdminUser(trx, admin)) ?? adminActor(admin.role ?? '')
  const withClient = { ...traits, user_agent: clientInfo.userAgent ?? '' }
  await recordAudit(settings, trx, action, actor, { ip: clientIp, now, traits: withClient })
}
