import { isIP } from 'node:net'

import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

export function passkeysRule(config: Config): ConfigIssue[] {
  return [...missingIssues(config), ...domainIssues(config), ...originIssues(config)]
}

function missingIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_PASSKEY_ENABLED'
  if (!config[variable]) return []
  return missing(
    config,
    ['AUTH_WEBAUTHN_RP_ID', 'AUTH_WEBAUTHN_RP_DISPLAY_NAME', 'AUTH_WEBAUTHN_RP_ORIGINS'],
    `${variable} is true`,
    { name: 'sign-in with passkeys', enabledBy: [variable], disabledBy: variable },
  )
}

/** Labels of letters, digits and hyphens; browsers reject any other id, and then every passkey fails. */
const domain = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i

function domainIssues({ AUTH_WEBAUTHN_RP_ID: id }: Config): ConfigIssue[] {
  if (id === undefined || (domain.test(id) && isIP(id) === 0)) return []
  const hint = 'it must be a domain without scheme, port and path, such as example.com'
  return [{ variable: 'AUTH_WEBAUTHN_RP_ID', problem: `is "${id}"`, hint }]
}

function originIssues({ AUTH_WEBAUTHN_RP_ORIGINS: origins }: Config): ConfigIssue[] {
  const invalid = origins.filter((origin) => !isOrigin(origin))
  const hint =
    'an origin is https:// and a host, or android:apk-key-hash: and 43 characters, or the origin of another app'
  return invalid.map((origin) => ({
    variable: 'AUTH_WEBAUTHN_RP_ORIGINS',
    problem: `has "${origin}"`,
    hint,
  }))
}

/** Browsers send scheme, host and port; Android sends the base64url SHA-256 of the app's signing certificate. */
function isOrigin(text: string): boolean {
  if (/^android:/i.test(text)) return /^android:apk-key-hash:[A-Za-z0-9_-]{43}$/.test(text)
  if (!/^https?:/i.test(text)) return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text)
  const url = URL.parse(text)
  return url !== null && url.href === `${url.origin}/`
}
