/**
 * Rejects addresses that no email can reach, before an email is queued: by rules, by the DNS records of the domain, and
 * by the operator's validation service. The result depends on the address only, so it reveals nothing about accounts.
 */
import dns from 'node:dns/promises'

import { emailAddressInvalid } from '../../../schemas/errors.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { type Deps, definePlugin } from '../../define-plugin.ts'

// Addresses that are typed often and cannot receive emails, found without a look-up.

/** Reserved for tests and documentation (RFC 2606 §2, §3), or for local networks (RFC 6762 §3). */
const reservedDomain =
  /(?:^|\.)(?:test|example|invalid|local|localhost)$|(?:^|\.)example\.(?:com|net|org)$/

/** Registered domains without mailboxes of users, and misspelt providers. */
const unusable = new Set(['test.com', 'email.com', 'anonymous.com', 'gamil.com', 'gamai.com'])

const placeholders = new Set(['someone@gmail.com', 'example@gmail.com', 'test@gmail.com'])

/** Shorter names do not exist at Gmail. */
const minGmailLength = 6

/** Large providers, for which DNS needs no look-up. */
const knownHosts = new Set([
  'gmail.com',
  'outlook.com',
  'hotmail.com',
  'live.com',
  'msn.com',
  'icloud.com',
  'me.com',
  'yahoo.com',
  'yahoo.co.uk',
  'yahoo.co.in',
  'aol.com',
  'hotmail.co.uk',
  'comcast.net',
  'verizon.net',
  'att.net',
  'bellsouth.net',
  'sbcglobal.net',
  'cox.net',
  'mail.ru',
  'rediffmail.com',
  'gmx.de',
  'gmx.net',
  'web.de',
  'proton.me',
])

/** `address` is normalized. */
function isImplausible(address: string): boolean {
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  if (!domain.includes('.') || reservedDomain.test(domain) || unusable.has(domain)) return true
  if (placeholders.has(address)) return true
  return domain === 'gmail.com' && at < minGmailLength
}

function isKnownMailHost(domain: string): boolean {
  return knownHosts.has(domain)
}

declare module 'fastify' {
  interface FastifyInstance {
    emailValidation: EmailValidation
  }
}

interface EmailValidation {
  /** Throws email_address_invalid. Resolves when neither DNS nor the service responds in time. */
  check(address: string): Promise<void>
}

type ValidationDeps = Deps<'config' | 'httpClient' | 'log'>

/** For all look-ups of an address together. */
const timeoutMs = 3000

export default definePlugin({
  name: 'emailValidation',
  deps: ['config', 'httpClient', 'log'],
  create(deps): EmailValidation {
    const { config } = deps
    // As in GoTrue, the hook that sends emails decides for itself.
    const isOff = config.AUTH_HOOK_SEND_EMAIL_ENABLED
    const blocked = new Set(config.AUTH_MAILER_EMAIL_VALIDATION_BLOCKED_MX.map(toHostName))

    return {
      async check(address) {
        if (isOff) return
        const isExtended = config.AUTH_MAILER_EMAIL_VALIDATION_EXTENDED
        if (isExtended && isImplausible(address)) throw emailAddressInvalid(address)
        const checks = await Promise.all([
          isExtended && inTime(isUnreachable(address, blocked)),
          isRejectedByService(deps, address),
        ])
        if (checks.some((isInvalid) => isInvalid)) throw emailAddressInvalid(address)
      },
    }
  },
})

/** Whether the domain has neither mail servers nor addresses, or has a blocked one (RFC 5321 §5.1). */
async function isUnreachable(address: string, blocked: ReadonlySet<string>): Promise<boolean> {
  const domain = address.slice(address.lastIndexOf('@') + 1)
  if (isKnownMailHost(domain)) return false
  // Fully qualified: no search domain is appended.
  const host = `${domain}.`
  const servers = await findRecords(() => dns.resolveMx(host))
  // A null MX (RFC 7505) has an empty name.
  if (servers?.some(({ exchange }) => exchange === '' || exchange === '.')) return true
  if (servers && servers.length > 0) {
    return servers.some(({ exchange }) => blocked.has(toHostName(exchange)))
  }
  const [four, six] = await Promise.all([
    findRecords(() => dns.resolve4(host)),
    findRecords(() => dns.resolve6(host)),
  ])
  if (four?.length === 0 && six?.length === 0) return true
  return [...(four ?? []), ...(six ?? [])].some((ip) => blocked.has(ip))
}

/** An empty list where the name or the record does not exist; undefined when the look-up failed. */
async function findRecords<T>(lookUp: () => Promise<T[]>): Promise<T[] | undefined> {
  try {
    return await lookUp()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : undefined
  }
}

/** False when the look-ups take too long. */
async function inTime(result: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), timeoutMs)
  try {
    return await Promise.race([result, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** `{"valid": false}` rejects. Anything else accepts: an unavailable service must not stop sign-ups. */
async function isRejectedByService(
  { config, httpClient, log }: ValidationDeps,
  email: string,
): Promise<boolean> {
  const url = config.AUTH_MAILER_EMAIL_VALIDATION_SERVICE_URL
  if (url === undefined) return false
  const extra = Object.entries(config.AUTH_MAILER_EMAIL_VALIDATION_SERVICE_HEADERS).flatMap(
    ([name, values]) => values.slice(-1).map((value): [string, string] => [name, value]),
  )
  try {
    const response = await httpClient.fetch(url, {
      method: 'POST',
      headers: new Headers([['content-type', 'application/json'], ...extra]),
      body: JSON.stringify({ email }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const body: unknown = await response.json()
    return response.ok && isRecord(body) && body.valid === false
  } catch (error) {
    log.warn(
      { err: error },
      'The email validation service did not respond: the address is accepted',
    )
    return false
  }
}

function toHostName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
