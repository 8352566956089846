/** Codes that verify a domain, sent to an address that only the holder of the domain has. */
import { createHmac } from 'node:crypto'

import type { Trx } from '../../db/core/database.ts'
import { countCodeAttempt, type DomainRow, updateDomain } from '../../db/organizations/domains.ts'
import type { Deps } from '../../plugins/define-plugin.ts'
import { organizationDomainUnverified, validationFailed } from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { checkRecipient } from '../emails/index.ts'
import { newCode } from '../otp/index.ts'
import { domainTraits, findDomainOrThrow } from './domains.ts'
import { reserveEmail } from './limits.ts'
import type { MemberDeps } from './members.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'

type DomainDeps = MemberDeps & Deps<'db' | 'emails' | 'otp'>

/** Mailboxes that only the holder of a domain has (CA/Browser Forum Baseline Requirements 3.2.2.4.4). */
const mailboxes = ['admin', 'administrator', 'hostmaster', 'postmaster', 'webmaster']
const codeDigits = 8
const codeLifetimeMs = 3_600_000
const maxAttempts = 5

export const domainAddresses = (domain: string): string[] =>
  mailboxes.map((mailbox) => `${mailbox}@${domain}`)

/**
 * Counts the attempt, which must stay counted after a failure, so it must not run inside a transaction. Throws
 * organization_domain_not_found and organization_domain_unverified.
 */
export async function checkCode(
  deps: DomainDeps,
  organizationId: string,
  id: string,
  code: string,
  now: Date,
): Promise<void> {
  await findDomainOrThrow(deps.db, organizationId, id)
  const attempt = { organizationId, id, maxAttempts }
  const counted = await countCodeAttempt(deps.db, attempt, now)
  const isRight =
    counted?.code_hash && isEqualInConstantTime(counted.code_hash, hashCode(deps, id, code))
  if (isRight) return
  throw organizationDomainUnverified(
    counted
      ? 'This is not the code that was sent'
      : 'There is no code for this domain that can still be used. Send another one.',
  )
}

/** Throws organization_domain_not_found, validation_failed and the errors of a recipient that gets no email. */
export async function sendDomainCode(
  deps: DomainDeps,
  trx: Trx,
  { organizationId, id, address }: { organizationId: string; id: string; address: string },
  by: ChangedBy,
  now: Date,
): Promise<DomainRow> {
  const { name } = await lockLiveOrganization(trx, organizationId)
  const { domain } = await findDomainOrThrow(trx, organizationId, id)
  if (!domainAddresses(domain).includes(address)) {
    throw validationFailed(`address must be one of ${domainAddresses(domain).join(', ')}`, 422)
  }
  checkRecipient(deps.emails.policy, address)
  const code = newCode(codeDigits)
  const expiresAt = new Date(now.getTime() + codeLifetimeMs)
  const columns = {
    code_hash: hashCode(deps, id, code),
    code_attempts: 0,
    code_expires_at: expiresAt,
  }
  const changed = await updateDomain(trx, id, { email: address, ...columns }, now)
  const common = { SiteURL: deps.config.AUTH_SITE_URL, Email: address, Data: {} }
  const variables = { ...common, OrganizationName: name, Domain: domain, Token: code }
  const message = { kind: 'organization_domain' as const, to: address, variables, expiresAt }
  await deps.emails.mailer.queue(trx, message, now)
  const traits = { ...domainTraits(changed), address }
  await recordChange(deps, trx, 'organization_domain_code_sent', by, traits, now)
  await reserveEmail(deps, trx, organizationId, now)
  return changed
}

function hashCode({ otp }: Deps<'otp'>, id: string, code: string): string {
  return createHmac('sha256', otp.tokenKey)
    .update(`organization_domain\n${id}\n${code}`)
    .digest('base64url')
}
