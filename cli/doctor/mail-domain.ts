/** What the domain of the sender tells other mail servers: without it, they take our mail for spam. */
import { promises as dns } from 'node:dns'
import { isIP } from 'node:net'

import { type Finding, pass, reasonOf, type Surroundings, warn } from './finding.ts'

/** All strings of all TXT records of a name. Throws what node:dns throws. */
export type LookUp = (name: string) => Promise<string[][]>

export async function mailDomain(
  { config }: Pick<Surroundings, 'config'>,
  lookUp: LookUp = dns.resolveTxt,
): Promise<Finding[]> {
  const { AUTH_SMTP_ADMIN_EMAIL: sender, AUTH_SMTP_HOST } = config
  const domain = sender?.slice(sender.lastIndexOf('@') + 1) ?? ''
  if (!AUTH_SMTP_HOST || isIP(domain.replace(/^\[|\]$/g, '')) || !domain.includes('.')) return []
  const spf = { name: domain, begins: 'v=spf1', called: 'SPF' }
  const dmarc = { name: `_dmarc.${domain}`, begins: 'v=DMARC1', called: 'DMARC' }
  return [
    ...(await Promise.all([spf, dmarc].map((wanted) => record(wanted, lookUp)))),
    warn(
      `DKIM cannot be looked up from here, as only your mail server knows its selector: send yourself a mail, and look for dkim=pass with ${domain} in its headers.`,
    ),
  ]
}

interface Wanted {
  name: string
  begins: string
  called: string
}

async function record({ name, begins, called }: Wanted, lookUp: LookUp): Promise<Finding> {
  try {
    const texts = (await lookUp(name)).map((strings) => strings.join(''))
    if (texts.some((text) => text.startsWith(begins))) return pass(`${name} has ${called}.`)
  } catch (error) {
    const reason = reasonOf(error)
    if (!['ENODATA', 'ENOTFOUND'].includes(reason)) {
      return warn(`${called} of ${name} could not be looked up (${reason}).`)
    }
  }
  return warn(
    `${name} has no ${called}: add a TXT record that begins with ${begins}, as your mail provider says.`,
  )
}
