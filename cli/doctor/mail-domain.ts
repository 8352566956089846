/** Checks SPF and DMARC of the sender's domain: without them, emails are likely to be treated as spam. */
import { promises as dns } from 'node:dns'
import { isIP } from 'node:net'

import { type DoctorContext, type DoctorFinding, describeError, pass, warn } from './finding.ts'

/** All strings of all TXT records of a name. Throws the errors of node:dns. */
type LookUp = (name: string) => Promise<string[][]>

export async function checkMailDomain(
  { config }: Pick<DoctorContext, 'config'>,
  lookUp: LookUp = dns.resolveTxt,
): Promise<DoctorFinding[]> {
  const { AUTH_SMTP_ADMIN_EMAIL: sender, AUTH_SMTP_HOST } = config
  const domain = sender?.slice(sender.lastIndexOf('@') + 1) ?? ''
  if (!AUTH_SMTP_HOST || isIP(domain.replace(/^\[|\]$/g, '')) || !domain.includes('.')) return []
  const spf = { name: domain, begins: 'v=spf1', called: 'SPF' }
  const dmarc = { name: `_dmarc.${domain}`, begins: 'v=DMARC1', called: 'DMARC' }
  return [
    ...(await Promise.all([spf, dmarc].map((needed) => record(needed, lookUp)))),
    warn(
      `DKIM cannot be checked from here, because only your mail server knows its selector: send yourself an email, and look for dkim=pass with ${domain} in its headers.`,
    ),
  ]
}

interface DnsRecord {
  name: string
  begins: string
  called: string
}

async function record({ name, begins, called }: DnsRecord, lookUp: LookUp): Promise<DoctorFinding> {
  try {
    const texts = (await lookUp(name)).map((strings) => strings.join(''))
    if (texts.some((text) => text.startsWith(begins))) return pass(`${name} has ${called}.`)
  } catch (error) {
    const reason = describeError(error)
    if (!['ENODATA', 'ENOTFOUND'].includes(reason)) {
      return warn(`${called} of ${name} could not be looked up (${reason}).`)
    }
  }
  return warn(
    `${name} has no ${called}: add a TXT record that begins with ${begins}, as your mail provider says.`,
  )
}
