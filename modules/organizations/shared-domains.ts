/**
 * Domains whose addresses belong to unrelated users: public suffixes such as co.uk and github.io, and mail providers. An
 * organization with such a domain would be offered the users of all others. Both lists are packages, loaded when first
 * needed.
 */
import type { FastifyInstance } from 'fastify'

import { organizationDomainShared } from '../../schemas/errors.ts'

/** In the list, and the names of examples (RFC 2606 §3). */
const examples = new Set(['example.com', 'example.net', 'example.org'])

let providers: Promise<ReadonlySet<string>> | undefined

function loadProviders(): Promise<ReadonlySet<string>> {
  providers ??= import('email-providers/all.json', { with: { type: 'json' } }).then(
    ({ default: domains }) => new Set(domains.filter((domain) => !examples.has(domain))),
  )
  return providers
}

/** `allowed` are the operator's exceptions from the list of mail providers. */
export async function isSharedDomain(
  domain: string,
  { AUTH_ORGANIZATIONS_ALLOWED_DOMAINS: allowed }: FastifyInstance['config'],
): Promise<boolean> {
  const { parse } = await import('tldts')
  const { domain: registrable } = parse(domain, { allowPrivateDomains: true })
  // A public suffix has no registrable domain.
  if (!registrable) return true
  if (allowed.includes(domain)) return false
  const known = await loadProviders()
  return known.has(domain) || known.has(registrable)
}

/** Throws organization_domain_shared. */
export async function checkNotShared({ config }: FastifyInstance, domain: string): Promise<void> {
  if (await isSharedDomain(domain, config)) throw organizationDomainShared(domain)
}
