/** Domains of an organization, and their verification. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'

import { type DomainRow, listDomains } from '../../db/organizations/domains.ts'
import {
  addDomain,
  checkCode,
  checkDns,
  checkDomainRole,
  checkNotShared,
  domainAddresses,
  markVerified,
  readDomain,
  removeDomain,
  sendDomainCode,
  toDnsRecord,
} from '../../modules/organizations/index.ts'
import { ErrorResponses } from '../../schemas/error.ts'
import { readUuid } from '../../schemas/fields.ts'
import { OrganizationPath } from '../../schemas/organizations/organization.ts'
import { Domain, Domains } from '../../schemas/organizations/settings.ts'
import { NoBody } from '../../schemas/values/empty.ts'
import { toTimestamp } from '../../schemas/values/timestamp.ts'
import { applyOrganizationChange } from './change.ts'

const Path = Type.Composite([OrganizationPath, Type.Object({ domain_id: Type.String() })])
const NewDomain = Type.Object({ domain: Type.String({ maxLength: 255 }) })
const Recipient = Type.Object({ address: Type.String() })
const Verification = Type.Union([
  Type.Object({
    code: Type.Optional(Type.String({ description: 'Without it, the TXT record is looked up' })),
  }),
  Type.Null(),
])

export const addDomains: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, db } = app

  app.get(
    '/domains',
    {
      config: {
        minimumRole: 'support',
        organizationPermission: 'domains:read',
        rejectsImpersonation: false,
      },
      schema: {
        summary: 'List the domains of an organization',
        params: OrganizationPath,
        response: { 200: Domains, ...ErrorResponses },
      },
    },
    async (request) => {
      const rows = await listDomains(db, bearerAuth.getOrganization(request).id)
      return { domains: rows.map(toDomain) }
    },
  )

  app.post(
    '/domains',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'domains:write',
      },
      schema: {
        summary: 'Add a domain, which is then verified',
        params: OrganizationPath,
        body: NewDomain,
        response: { 201: Domain, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const domain = readDomain(request.body.domain)
      await checkNotShared(app, domain)
      const added = await applyOrganizationChange(
        app,
        request,
        ({ trx, id: organizationId, by, now }) =>
          addDomain(app, trx, { organizationId, domain }, by, now),
      )
      return reply.status(201).send(toDomain(added))
    },
  )
}

const sendCodeSchema = {
  summary: 'Send the code of a domain to one of its fixed addresses',
  params: Path,
  body: Recipient,
  response: { 200: Domain, ...ErrorResponses },
}

const verifySchema = {
  summary: 'Verify a domain by its TXT record, or by the code that was sent',
  params: Path,
  body: Verification,
  response: { 200: Domain, ...ErrorResponses },
}

export const verifyDomains: FastifyPluginAsyncTypebox = async (app) => {
  const { bearerAuth, rateLimits } = app

  app.post(
    '/domains/:domain_id/send_code',
    {
      config: {
        minimumRole: 'operator',
        organizationPermission: 'domains:write',
        rateLimit: rateLimits.otp,
      },
      schema: sendCodeSchema,
    },
    async (request) => {
      const id = readUuid('domain_id', request.params.domain_id)
      const { address } = request.body
      return applyOrganizationChange(app, request, async ({ trx, id: organizationId, by, now }) =>
        toDomain(await sendDomainCode(app, trx, { organizationId, id, address }, by, now)),
      )
    },
  )

  app.post(
    '/domains/:domain_id/verify',
    {
      config: {
        minimumRole: 'operator',
        givesAccess: true,
        organizationPermission: 'domains:write',
        rateLimit: rateLimits.verify,
      },
      schema: verifySchema,
    },
    async (request) => {
      const id = readUuid('domain_id', request.params.domain_id)
      const { id: organizationId } = bearerAuth.getOrganization(request)
      const code = request.body?.code
      if (code === undefined) await checkDns(app, organizationId, id)
      else await checkCode(app, organizationId, id, code, new Date())
      const how = code === undefined ? 'dns' : 'email'
      return applyOrganizationChange(app, request, async ({ trx, permissions, by, now }) => {
        await checkDomainRole(trx, organizationId, permissions)
        return toDomain(await markVerified(app, trx, { organizationId, id, how }, by, now))
      })
    },
  )
}

export const removeDomains: FastifyPluginAsyncTypebox = async (app) => {
  app.delete(
    '/domains/:domain_id',
    {
      config: { minimumRole: 'operator', organizationPermission: 'domains:write' },
      schema: {
        summary: 'Remove a domain; its users stay members',
        params: Path,
        response: { 204: NoBody, ...ErrorResponses },
      },
    },
    async (request, reply) => {
      const id = readUuid('domain_id', request.params.domain_id)
      await applyOrganizationChange(app, request, ({ trx, id: organizationId, by, now }) =>
        removeDomain(app, trx, { organizationId, id }, by, now),
      )
      return reply.status(204).send(null)
    },
  )
}

function toDomain(row: DomainRow): Static<typeof Domain> {
  const { id, domain, dns_token, verified_at, verified_by, created_at, updated_at } = row
  return {
    id,
    domain,
    verified_by,
    verified_at: verified_at && toTimestamp(verified_at),
    dns_record: toDnsRecord(domain, dns_token),
    email_addresses: domainAddresses(domain),
    created_at: toTimestamp(created_at),
    updated_at: toTimestamp(updated_at),
  }
}
