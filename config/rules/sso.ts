import { createPrivateKey } from 'node:crypto'

import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

export function ssoRule(config: Config): ConfigIssue[] {
  return [...linkingIssues(config), ...(config.AUTH_SAML_ENABLED ? samlIssues(config) : [])]
}

const samlIssues = (config: Config): ConfigIssue[] => [
  ...missing(config, ['AUTH_SAML_PRIVATE_KEY'], 'AUTH_SAML_ENABLED is true'),
  ...keys.flatMap((variable) => keyIssues(variable, config[variable])),
]

const keys = ['AUTH_SAML_PRIVATE_KEY', 'AUTH_SAML_PRIVATE_KEY_NEXT'] as const
const standardExponent = 65_537n

/** The tenant of a SAML provider asserts any address, so that its users must not be matched with those of others. */
function linkingIssues({
  AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS: domains,
  AUTH_EXPERIMENTAL_PROVIDERS_WITH_OWN_LINKING_DOMAIN: own,
}: Config): ConfigIssue[] {
  const all = Object.entries(domains)
  const isOther = (domain: string) =>
    domain === 'default' || domain.startsWith('sso:') || own.includes(domain)
  const isShared = (domain: string) => all.filter(([, each]) => each === domain).length > 1
  return all
    .filter(([provider, domain]) => provider.startsWith('sso:') && domain !== provider)
    .filter(([, domain]) => isOther(domain) || isShared(domain))
    .map(([provider, domain]) => ({
      variable: 'AUTH_EXPERIMENTAL_PROVIDER_LINKING_DOMAINS',
      problem: `puts ${provider} into the linking domain ${domain}`,
      hint: 'a SAML provider has a linking domain of its own, because its operator could sign in as every user of a shared one; leave it out',
    }))
}

function keyIssues(variable: string, base64: string | undefined): ConfigIssue[] {
  if (base64 === undefined || isUsable(base64)) return []
  const hint =
    'it must be an RSA key of at least 2048 bits as base64 of PKCS#1 DER: openssl genrsa 2048 | openssl rsa -traditional -outform der | base64 -w0'
  return [{ variable, problem: 'contains no usable RSA key', hint }]
}

function isUsable(base64: string): boolean {
  try {
    const der = Buffer.from(base64, 'base64')
    const { asymmetricKeyDetails } = createPrivateKey({ key: der, format: 'der', type: 'pkcs1' })
    const { modulusLength = 0, publicExponent } = asymmetricKeyDetails ?? {}
    return modulusLength >= 2048 && publicExponent === standardExponent
  } catch {
    return false
  }
}
