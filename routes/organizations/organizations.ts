/** Organizations: all of them for admins of the server, and one with its audit log, for its members too. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listOrganizationAudit } from '../../db/organizations/audit.ts'
import { findOrganization, listAllOrganizations } from '../../db/organizations/organizations.ts'
import { recordAdminAction } from '../../modules/audit/index.ts'
import {
  changedBy,
  changeOrganization,
  checkJoiningRoles,
  createOrganization,
  deleteOrganization,
  purgeOrganization,
  readSlug,
  restoreOrganization,
} from '../../modules/organizations/index.ts'
import { lockUserById } from '../../modules/users/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { organizationNotFound } from '../../schemas/errors.ts'
import { readUuid } from '../../schemas/fields.ts'
import {
  Next,
  OrganizationListQuery,
  readList,
  SearchQuery,
  toPage,
} from '../../schemas/organizations/list.ts'
import {
  AdminOrganization,
  checkOrganizationMetadata,
  Organization,
  OrganizationChange,
  OrganizationInput,
  OrganizationPath,
  organizationColumns,
  toAdminOrganization,
  toOrganization,
} from '../../schemas/organizations/organization.ts'
import { AuditEntries } from '../../schemas/organizations/settings.ts'
import { StringEnum } from '../../schemas/values/choices.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { toTimestamp } from '../../schemas/values/timestamp.ts'
import { applyOrganizationChange } from './change.ts'

const ListQuery = Type.Object({
  ...SearchQuery,
  deleted: Type.Optional(
    StringEnum(['true', 'false'], { description: 'Deleted organizations only' }),
  ),
})
const List = Type.Object({ organizations: Type.Array(AdminOrganization), next: Next })
const NewOrganization = Type.Object({
  ...OrganizationInput.properties,
  owner_id: Type.Optional(Type.String({ format: 'uuid', description: 'The first owner' })),
})

export const organizationList: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const path = '/admin/organizations'

  app.get(
    path,
    {
      config: { minimumRole: 'support' },
      schema: {
        summary: 'List organizations, newest first',
        querystring: ListQuery,
        response: { 200: List, ...ErrorResponses },
      },
    },
    async ({ query }) => {
      const { size, ...filter } = readList(query)
      const deleted = query.deleted === 'true'
      const rows = await listAllOrganizations(db, { ...filter, deleted }, size)
      const { page, next } = toPage(rows, size, ({ id }) => id)
      return { organizations: page.map(toAdminOrganization), next }
    },
  )

  app.post(
    path,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Create an organization',
        body: NewOrganization,
        response: { 201: AdminOrganization, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const { owner_id: ownerId, slug, metadata, name } = request.body
      if (slug !== undefined) readSlug(slug)
      checkOrganizationMetadata(metadata)
      const now = new Date()
      const created = await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now, ownerId ? { id: ownerId } : [])
        if (ownerId) await lockUserById(trx, ownerId)
        const by = await changedBy(trx, request)
        const input = { name: name.trim(), slug, metadata }
        return createOrganization(app, trx, input, ownerId ?? null, by, now)
      })
      return reply.status(201).send(toAdminOrganization(created))
    },
  )
}

export const organizationLifecycle: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, db } = app
  const path = '/admin/organizations/:organization_id'

  app.post(
    `${path}/restore`,
    {
      config: { minimumRole: 'operator', givesAccess: true },
      schema: {
        summary: 'Restore a deleted organization',
        params: OrganizationPath,
        response: { 200: AdminOrganization, ...ErrorResponses },
      },
    },
    async (request) => {
      const id = readUuid('organization_id', request.params.organization_id)
      const now = new Date()
      return db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const by = await changedBy(trx, request)
        return toAdminOrganization(await restoreOrganization(app, trx, id, by, now))
      })
    },
  )

  app.post(
    `${path}/purge`,
    {
      config: { minimumRole: 'owner' },
      schema: {
        summary:
          'Delete the rows of a deleted organization permanently; its slug is available again',
        params: OrganizationPath,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const id = readUuid('organization_id', request.params.organization_id)
      const now = new Date()
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        const { slug, name } = await purgeOrganization(trx, id)
        const traits = { now, organization_id: id, slug, name, permanent: true }
        await recordAdminAction(audit, trx, 'organization_deleted', request, traits)
      })
      return reply.status(204).send(null)
    },
  )
}

export const readOrganization: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app
  const params = OrganizationPath

  app.get(
    '',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'organization:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'Get an organization',
        params,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const found = await findOrganization(db, bearerAuth.getOrganization(request).id)
      if (!found) throw organizationNotFound()
      return toOrganization(found)
    },
  )
}

export const writeOrganization: FastifyPluginAsyncTypebox = async (app) => {
  const params = OrganizationPath

  app.put(
    '',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'organization:write',
      },
      schema: {
        summary: 'Change an organization, and how users join it',
        description: 'Absent fields are unchanged.',
        params,
        body: OrganizationChange,
        response: { 200: Organization, ...ErrorResponses },
      },
    },
    async (request) => {
      const { slug, metadata } = request.body
      if (slug !== undefined) readSlug(slug)
      checkOrganizationMetadata(metadata)
      const columns = organizationColumns(request.body)
      return applyOrganizationChange(app, request, async ({ trx, id, permissions, by, now }) => {
        await checkJoiningRoles(trx, id, columns, permissions)
        return toOrganization(await changeOrganization(app, trx, id, columns, by, now))
      })
    },
  )

  app.delete(
    '',
    {
      config: { minimumRole: 'operator', organizationPermission: 'organization:delete' },
      schema: {
        summary: 'Delete an organization',
        description: 'Its members lose all access to it immediately. An admin can restore it.',
        params,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      await applyOrganizationChange(app, request, ({ trx, id, by, now }) =>
        deleteOrganization(app, trx, id, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

const AuditQuery = Type.Object({ ...OrganizationListQuery, action: Type.Optional(Type.String()) })

export const organizationAudit: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/audit',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'audit:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List changes of an organization, newest first',
        params: OrganizationPath,
        querystring: AuditQuery,
        response: { 200: AuditEntries, ...ErrorResponses },
      },
    },
    async (request) => {
      const { size, after } = readList(request.query)
      const { id } = bearerAuth.getOrganization(request)
      const filter = { action: request.query.action || undefined, after }
      const rows = await listOrganizationAudit(db, id, filter, size)
      const { page, next } = toPage(rows, size, (row) => row.id)
      const entries = page.map(
        ({ organization_id: _, microseconds: __, created_at, acting, ...entry }) => ({
          ...entry,
          ...acting,
          created_at: toTimestamp(created_at),
        }),
      )
      return { entries, next }
    },
  )
}
