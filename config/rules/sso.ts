import { createPrivateKey } from 'node:crypto'

import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

export function ssoRule(config: Config): ConfigIssue[] {
  if (!config.AUTH_SAML_ENABLED) return []
  return [
    ...missing(config, ['AUTH_SAML_PRIVATE_KEY'], 'AUTH_SAML_ENABLED is true'),
    ...keys.flatMap((variable) => keyIssues(variable, config[variable])),
  ]
}

const keys = ['AUTH_SAML_PRIVATE_KEY', 'AUTH_SAML_PRIVATE_KEY_NEXT'] as const
const standardExponent = 65_537n

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
