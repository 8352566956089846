/**
 * Audit entries of organizations: in the audit log, and in the part of it that members of the organization may read.
 */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { insertOrganizationAuditEntry } from '../../db/organizations/audit.ts'
import { nilUuid } from '../../db/tables/users.ts'
import type { UserRecord } from '../../db/users/users.ts'
import type { AccessTokenClaims } from '../../schemas/access-token.ts'
import type { AuditAction } from '../audit/actions.ts'
import { type Actor, adminActor, findAdminUser, recordAudit } from '../audit/index.ts'

/** The actor that changes an organization: a user, an admin token, or a provisioning client. */
export interface ChangedBy {
  actor: Actor
  ip: string
  /** Of a member, whose names and emails are limited; an admin of the server has none. */
  member?: { network: string }
}

type OrganizationAction = Extract<AuditAction, `organization_${string}`>

interface Traits extends Record<string, unknown> {
  organization_id: string
}

/** Also emits the event of the action. `traits` has what the event type lists, and `user_id` for the user concerned. */
export async function recordChange(
  { audit }: FastifyInstance,
  trx: Trx,
  action: OrganizationAction,
  { actor, ip }: ChangedBy,
  traits: Traits,
  now: Date,
): Promise<void> {
  await recordAudit(audit, trx, action, actor, { ip, now, traits })
  const { organization_id, ...rest } = traits
  const actorId = actor.id === nilUuid ? null : actor.id
  await insertOrganizationAuditEntry(trx, {
    organization_id,
    action,
    actor_id: actorId,
    actor_name: actor.email || actor.phone || '',
    traits: rest,
    ip_address: ip,
    created_at: now,
    acting: audit.events.describeActor(actorId),
  })
}

interface Request {
  admin: AccessTokenClaims | null
  auth: { user: UserRecord } | null
  clientIp: string
  sendingNetwork: string
}

/** A token of an admin without a user is recorded under its role. */
export async function changedBy(
  trx: Trx,
  { admin, auth, clientIp: ip, sendingNetwork: network }: Request,
): Promise<ChangedBy> {
  if (!admin) return { actor: auth?.user ?? adminActor(''), ip, member: { network } }
  return { actor: (await findAdminUser(trx, admin)) ?? adminActor(admin.role ?? ''), ip }
}
