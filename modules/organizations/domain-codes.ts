/** Codes that verify a domain, sent to an address that only the holder of the domain has. */
import { createHmac } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../db/core/database.ts'
import { countCodeAttempt, type DomainRow, updateDomain } from '../../db/organizations/domains.ts'
import {
  organizationDomainUnverified,
  tooManyAttempts,
  validationFailed,
} from '../../schemas/errors.ts'
import { isEqualInConstantTime } from '../../schemas/values/constant-time.ts'
import { readTypedCode } from '../../schemas/values/typed-code.ts'
import { checkRecipient } from '../emails/index.ts'
import { newCode, throttleAttempt } from '../otp/index.ts'
import { domainTraits, findDomainOrThrow } from './domains.ts'
import { reserveEmail } from './limits.ts'
import { lockLiveOrganization } from './organization.ts'
import { type ChangedBy, recordChange } from './record.ts'

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
  app: FastifyInstance,
  organizationId: string,
  id: string,
  code: string,
  now: Date,
): Promise<void> {
  const { domain } = await findDomainOrThrow(app.db, organizationId, id)
  // Also beyond the code, the organization and the account: each message has another code to guess.
  const target = { kind: 'code', account: `code of ${domain}` } as const
  const throttled = await throttleAttempt(app, app.db, target, now)
  const tried = await throttled.check(
    app.db,
    () => tryCode(app, { organizationId, id, code }, now),
    (outcome) => outcome !== 'wrong',
  )
  if (tried === 'right') return
  throw organizationDomainUnverified(
    tried === 'wrong'
      ? 'This is not the code that was sent'
      : 'There is no code for this domain that can still be used. Send another one.',
  )
}

async function tryCode(
  app: FastifyInstance,
  { organizationId, id, code }: { organizationId: string; id: string; code: string },
  now: Date,
): Promise<'right' | 'wrong' | 'none'> {
  const counted = await countCodeAttempt(app.db, { organizationId, id, maxAttempts }, now)
  if (!counted?.code_hash) return 'none'
  const given = hashCode(app, id, readTypedCode(code))
  return isEqualInConstantTime(counted.code_hash, given) ? 'right' : 'wrong'
}

/** Throws organization_domain_not_found, validation_failed and the errors of a recipient that gets no email. */
export async function sendDomainCode(
  app: FastifyInstance,
  trx: Trx,
  { organizationId, id, address }: { organizationId: string; id: string; address: string },
  by: ChangedBy,
  now: Date,
): Promise<DomainRow> {
  const { name } = await lockLiveOrganization(trx, organizationId)
  const found = await findDomainOrThrow(trx, organizationId, id)
  const { domain } = found
  if (!domainAddresses(domain).includes(address)) {
    throw validationFailed(`address must be one of ${domainAddresses(domain).join(', ')}`, 422)
  }
  checkRecipient(app.emails.policy, address)
  const code = newCode(codeDigits)
  const expiresAt = new Date(now.getTime() + codeLifetimeMs)
  const columns = {
    code_hash: hashCode(app, id, code),
    code_attempts: countEarlierAttempts(found, now),
    code_expires_at: expiresAt,
  }
  const changed = await updateDomain(trx, id, { email: address, ...columns }, now)
  const common = { SiteURL: app.config.AUTH_SITE_URL, Email: address, Data: {} }
  const variables = { ...common, OrganizationName: name, Domain: domain, Token: code }
  const message = { kind: 'organization_domain' as const, to: address, variables, expiresAt }
  await app.mailer.queue(trx, message, now)
  const traits = { ...domainTraits(changed), address }
  await recordChange(app, trx, 'organization_domain_code_sent', by, traits, now)
  await reserveEmail(app, trx, { organizationId, to: address, by }, now)
  return changed
}

/** A new message gives no new attempts while the code before it could be used. Throws over_request_rate_limit. */
function countEarlierAttempts({ code_attempts, code_expires_at }: DomainRow, now: Date): number {
  const seconds = code_expires_at ? (code_expires_at.getTime() - now.getTime()) / 1000 : 0
  if (seconds <= 0) return 0
  if (code_attempts >= maxAttempts) throw tooManyAttempts(Math.ceil(seconds))
  return code_attempts
}

function hashCode({ otp }: FastifyInstance, id: string, code: string): string {
  return createHmac('sha256', otp.tokenKey)
    .update(`organization_domain\n${id}\n${code}`)
    .digest('base64url')
}
