/** Domains: added by an organization, and verified by DNS or by a code (domain-codes.ts). */
import { randomBytes } from 'node:crypto'
import { Resolver } from 'node:dns/promises'
import { domainToASCII } from 'node:url'

import type { FastifyInstance } from 'fastify'

import type { Db, Trx } from '../../db/core/database.ts'
import { isUniqueViolation } from '../../db/core/errors.ts'
import {
  type DomainRow,
  deleteDomain,
  findDomain,
  insertDomain,
  listDomains,
  updateDomain,
} from '../../db/organizations/domains.ts'
import {
  organizationDomainExists,
  organizationDomainNotFound,
  organizationDomainTaken,
  organizationDomainUnverified,
  organizationLimitReached,
  validationFailed,
} from '../../schemas/errors.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'

/** The domain in ASCII (UTS 46) and lower case. Throws validation_failed. */
export function readDomain(input: string): string {
  const domain = domainToASCII(input.trim().replace(/\.$/, '')).toLowerCase()
  const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
  const isDomain = new RegExp(`^(?:${label}\\.)+(?=[a-z0-9-]*[a-z])${label}$`).test(domain)
  if (isDomain && domain.length <= 253) return domain
  throw validationFailed('domain must be a name such as example.com', 422)
}

/** Throws organization_domain_exists and organization_limit_reached. */
export async function addDomain(
  app: FastifyInstance,
  trx: Trx,
  { organizationId, domain }: { organizationId: string; domain: string },
  by: ChangedBy,
  now: Date,
): Promise<DomainRow> {
  await lockLiveOrganization(trx, organizationId)
  await checkDomainLimit(app, trx, organizationId)
  const id = crypto.randomUUID()
  const dns_token = randomBytes(24).toString('base64url')
  const row = { id, organization_id: organizationId, domain, dns_token }
  const added = await insertDomain(trx, { ...row, verified_at: null, verified_by: null }, now)
  if (!added) throw organizationDomainExists()
  await recordChange(app, trx, 'organization_domain_added', by, domainTraits(added), now)
  return added
}

async function checkDomainLimit({ config }: FastifyInstance, trx: Trx, organizationId: string) {
  const limit = config.AUTH_ORGANIZATIONS_MAX_DOMAINS
  if (limit === 0 || (await listDomains(trx, organizationId)).length < limit) return
  throw organizationLimitReached(`An organization has at most ${limit} domains`)
}

/** Not inside a transaction. Throws organization_domain_not_found and organization_domain_unverified. */
export async function checkDns(
  app: FastifyInstance,
  organizationId: string,
  id: string,
): Promise<void> {
  const { domain, dns_token } = await findDomainOrThrow(app.db, organizationId, id)
  const record = toDnsRecord(domain, dns_token)
  if (await hasDnsRecord(app, record)) return
  throw organizationDomainUnverified(
    `The name ${record.name} has no TXT record ${record.value}. Create it, wait until it is published, and try again.`,
  )
}

/** After `checkDns` or `checkCode`. Throws organization_domain_not_found and organization_domain_taken. */
export async function markVerified(
  app: FastifyInstance,
  trx: Trx,
  {
    organizationId,
    id,
    how,
  }: { organizationId: string; id: string; how: 'dns' | 'email' | 'admin' },
  by: ChangedBy,
  now: Date,
): Promise<DomainRow> {
  const before = await findDomainOrThrow(trx, organizationId, id)
  if (before.verified_at) return before
  const change = { verified_at: now, verified_by: how, code_hash: null, code_expires_at: null }
  let after: DomainRow
  try {
    after = await updateDomain(trx, id, change, now)
  } catch (error) {
    throw isUniqueViolation(error) ? organizationDomainTaken() : error
  }
  const traits = { ...domainTraits(after), verified_by: how }
  await recordChange(app, trx, 'organization_domain_verified', by, traits, now)
  return after
}

/** Members who joined by it are kept. Throws organization_domain_not_found. */
export async function removeDomain(
  app: FastifyInstance,
  trx: Trx,
  { organizationId, id }: { organizationId: string; id: string },
  by: ChangedBy,
  now: Date,
): Promise<DomainRow> {
  const before = await findDomainOrThrow(trx, organizationId, id)
  await deleteDomain(trx, id)
  await recordChange(app, trx, 'organization_domain_removed', by, domainTraits(before), now)
  return before
}

/** Throws organization_domain_not_found. */
export async function findDomainOrThrow(
  db: Db,
  organizationId: string,
  id: string,
): Promise<DomainRow> {
  const found = await findDomain(db, organizationId, id)
  if (!found) throw organizationDomainNotFound()
  return found
}

export const domainTraits = ({ organization_id, domain, id }: DomainRow) => ({
  organization_id,
  domain,
  domain_id: id,
})

const timeoutMs = 3_000

const prefix = 'postern-domain-verification='

interface DnsRecord {
  name: string
  type: 'TXT'
  value: string
}

/** Looks up the TXT record that verifies an organization's control of a domain. */
export const toDnsRecord = (domain: string, token: string): DnsRecord => ({
  name: `_postern-challenge.${domain}`,
  type: 'TXT',
  value: `${prefix}${token}`,
})

/** Whether the record exists. No response counts as no record. */
async function hasDnsRecord(
  { config }: FastifyInstance,
  { name, value }: DnsRecord,
): Promise<boolean> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
  const servers = config.AUTH_ORGANIZATIONS_DNS_SERVERS
  if (servers) resolver.setServers(servers)
  try {
    const records = await resolver.resolveTxt(name)
    return records.some((parts) => parts.join('').trim() === value)
  } catch {
    return false
  }
}
