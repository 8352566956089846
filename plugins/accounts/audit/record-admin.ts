/** What admins do: who did what, to whom or what, from where. */
import type { Trx } from '../../../db/database.ts'
import { findUser } from '../../../db/users.ts'
import { notAdmin } from '../../../errors.ts'
import { type AccessTokenClaims, personIn } from '../../../schemas/access-token.ts'
import { type AuditAction, type AuditSettings, adminActor, record } from './entry.ts'

/** The request of an admin, as far as the trail tells of it. */
export interface AdminRequest {
  admin: AccessTokenClaims | null
  clientIp: string
  client: { userAgent: string | null }
}

/** The person it was done to. */
interface Subject {
  id: string
  email: string | null
  phone: string | null
}

type Traits = { now: Date } & Record<string, unknown>

/** Records what an admin does to a person, in the transaction that does it. Throws not_admin for a request that named no admin. */
export function recordAdmin(
  settings: AuditSettings,
  trx: Trx,
  action: AuditAction,
  request: AdminRequest,
  { id, email, phone }: Subject,
  traits: Traits,
): Promise<void> {
  const person = { user_id: id, user_email: email ?? '', user_phone: phone ?? '' }
  return recordAdminOn(settings, trx, action, request, { ...person, ...traits })
}

/** The same for what is no person; the traits say what it was. */
export async function recordAdminOn(
  settings: AuditSettings,
  trx: Trx,
  action: AuditAction,
  { admin, clientIp, client }: AdminRequest,
  { now, ...traits }: Traits,
): Promise<void> {
  if (!admin) throw notAdmin()
  const id = personIn(admin)
  const person = id ? await findUser(trx, id) : undefined
  const actor = person ?? adminActor(admin.role ?? '')
  const withClient = { ...traits, user_agent: client.userAgent ?? '' }
  await record(settings, trx, action, actor, { ip: clientIp, now, traits: withClient })
}
