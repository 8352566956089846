/** An environment that switches every feature on, for the API document and for tests of what all features register. */
import { generateKeyPairSync } from 'node:crypto'

import { variableEntries } from './groups/index.ts'

/** Switches that add no endpoint and require an external service. */
const withoutEndpoints =
  /^AUTH_(HOOK|TRACING|METRICS|SECURITY_CAPTCHA|PASSWORD|MAILER)_|^AUTH_EXTERNAL_(?!PHONE|ANONYMOUS|WEB3)/

/** Variables and their values, without those that every server requires. */
export function everyFeature(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs1', format: 'der' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  })
  return {
    ...Object.fromEntries(listSwitches().map((name) => [name, 'true'])),
    AUTH_SAML_PRIVATE_KEY: privateKey.toString('base64'),
    AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION: 'true',
    AUTH_WEBAUTHN_RP_ID: 'auth.example',
    AUTH_WEBAUTHN_RP_DISPLAY_NAME: 'Example',
    AUTH_WEBAUTHN_RP_ORIGINS: 'https://auth.example',
    AUTH_SECURITY_TXT_CONTACT: 'mailto:security@auth.example',
    AUTH_SECURITY_TXT_EXPIRES: '2100-01-01T00:00:00Z',
  }
}

/** The variables that switch a feature with endpoints on or off. */
export function listSwitches(): string[] {
  return variableEntries.flatMap(([name, schema]) => {
    const isSwitch = schema.type === 'boolean' && name.endsWith('_ENABLED')
    return isSwitch && !withoutEndpoints.test(name) ? [name] : []
  })
}
