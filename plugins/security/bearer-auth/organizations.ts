/**
 * Authorizes requests for the organization in the path: a member has the permissions of the role, an admin of the
 * server has all. Each route names the required permission (`config.permission`).
 */
import type { FastifyRequest } from 'fastify'

import type { Db, Trx } from '../../../db/core/database.ts'
import { findMembership } from '../../../db/organizations/members.ts'
import { findOrganization, lockOrganization } from '../../../db/organizations/organizations.ts'
import { lockUsers } from '../../../db/users/update-user.ts'
import {
  insufficientAal,
  noAuthorization,
  organizationNotFound,
  organizationPermissionRequired,
} from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import {
  effectivePermissions,
  everyPermission,
  hasPermission,
  type SystemPermission,
} from '../../../schemas/organizations/permissions.ts'
import type { AdminRequest } from './admins.ts'
import { findLive } from './find-bearer.ts'
import { lookUpsIn } from './look-ups.ts'
import type { SessionPolicy } from './session-policy.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission that a member needs; `member` for any member. */
    permission?: SystemPermission | 'member'
  }
  interface FastifyRequest {
    organization: OrganizationAccess | null
  }
}

interface OrganizationAccess {
  id: string
  permissions: readonly string[]
}

type OrganizationRequest = Pick<FastifyRequest, 'auth' | 'organization'> & AdminRequest

interface GuardDeps {
  db: Db
  reauthorizeAdmin: (
    trx: Trx,
    request: AdminRequest,
    now: Date,
    subject?: readonly { id: string }[],
  ) => Promise<void>
  sessionPolicy: SessionPolicy
}

export function createOrganizationGuards({ db, reauthorizeAdmin, sessionPolicy }: GuardDeps) {
  return {
    /** Throws organization_not_found to users who are no members, and organization_permission_required. */
    async requireOrganization(request: FastifyRequest): Promise<void> {
      request.organization = await loadAccess(db, request)
    },

    /** The organization of a handler behind requireOrganization. */
    getOrganization({ organization }: Pick<FastifyRequest, 'organization'>): OrganizationAccess {
      if (!organization) throw organizationNotFound()
      return organization
    },

    /**
     * First in a transaction: verifies that the actor is signed in and has the permission, until the transaction ends.
     * Locks the users, the actor among them, in one order, and then the organization. Throws like
     * `requireOrganization`, and insufficient_aal for a member who has yet to verify a second factor.
     */
    async reauthorizeInOrganization(
      trx: Trx,
      request: OrganizationRequest,
      now: Date,
      userIds: readonly string[] = [],
    ): Promise<OrganizationAccess> {
      const { admin, auth, organization } = request
      if (admin) {
        await reauthorizeAdmin(
          trx,
          request,
          now,
          userIds.map((id) => ({ id })),
        )
        await lockUsers(trx, userIds)
      } else {
        if (!auth) throw noAuthorization()
        await lockUsers(trx, [auth.user.id, ...userIds])
        const current = await findLive(lookUpsIn(trx), auth.claims, now)
        if (!sessionPolicy.isConfirmed(current, now)) throw insufficientAal(unconfirmed, 403)
      }
      await lockOrganization(trx, organization?.id ?? '')
      return loadAccess(trx, request)
    },
  }
}

const unconfirmed = 'AAL2 session is required to change an organization.'

async function loadAccess(
  db: Db,
  { admin, auth, params, routeOptions }: Omit<OrganizationRequest, 'organization'>,
): Promise<OrganizationAccess> {
  const id = organizationIdIn(params)
  if (admin) {
    if (!(await findOrganization(db, id))) throw organizationNotFound()
    return { id, permissions: [everyPermission] }
  }
  const member = auth && (await findMembership(db, id, auth.user.id))
  if (member?.status !== 'active') throw organizationNotFound()
  const permissions = effectivePermissions(member.role, member.role_permissions)
  const required = routeOptions.config.permission
  if (!required) throw new Error(`${routeOptions.url} names no permission`)
  if (required !== 'member' && !hasPermission(permissions, required)) {
    throw organizationPermissionRequired(required)
  }
  return { id, permissions }
}

/** Throws organization_not_found. */
function organizationIdIn(params: unknown): string {
  const { organization_id: id }: { organization_id?: unknown } = Object(params)
  if (typeof id !== 'string' || !isUuid(id)) throw organizationNotFound()
  return id.toLowerCase()
}
