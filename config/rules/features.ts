/** Features of the server: captcha, passkeys, usernames, organizations, security.txt. */
import { Resolver } from 'node:dns'
import { isIP } from 'node:net'

import { formatDuration } from '../../schemas/values/duration.ts'
import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

export function captchaRule(config: Config): ConfigIssue[] {
  if (!config.AUTH_SECURITY_CAPTCHA_ENABLED) return []
  const needed = ['AUTH_SECURITY_CAPTCHA_PROVIDER', 'AUTH_SECURITY_CAPTCHA_SECRET'] as const
  const because = 'AUTH_SECURITY_CAPTCHA_ENABLED is true'
  return [...missing(config, needed, because), ...timeIssues(config), ...pageIssues(config)]
}

/** The hosted pages must show the captcha that their requests need. */
function pageIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_SECURITY_CAPTCHA_SITE_KEY'
  if (!usesSignInPages(config) || config[variable]) return []
  const problem = 'is not set, so the hosted sign-in pages cannot show the captcha'
  const hint = 'set it to the site key of the captcha provider'
  return [{ variable, problem, hint }]
}

/** In development the account page is enabled by default and may have no working sign-in. */
function usesSignInPages(config: Config): boolean {
  if (config.AUTH_ACCOUNT_PAGE_ENABLED && !config.dev) return true
  return config.AUTH_OAUTH_SERVER_ENABLED && !config.AUTH_OAUTH_SERVER_AUTHORIZATION_PATH
}

/** A request would time out before the provider does. */
function timeIssues(config: Config): ConfigIssue[] {
  const variable = 'AUTH_API_MAX_REQUEST_DURATION'
  const needed = config.AUTH_SECURITY_CAPTCHA_TIMEOUT
  if (config[variable] >= needed) return []
  const problem = 'is shorter than AUTH_SECURITY_CAPTCHA_TIMEOUT'
  return [{ variable, problem, hint: `it must be at least ${formatDuration(needed)}` }]
}

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

export function usernamesRule(config: Config): ConfigIssue[] {
  const { AUTH_USERNAMES_MIN_LENGTH: minLength, AUTH_USERNAMES_MAX_LENGTH: maxLength } = config
  if (minLength <= maxLength) return []
  return [
    {
      variable: 'AUTH_USERNAMES_MIN_LENGTH',
      problem: `is ${minLength}, and AUTH_USERNAMES_MAX_LENGTH is ${maxLength}`,
      hint: 'the minimum must not exceed the maximum',
    },
  ]
}

export function organizationsRule(config: Config): ConfigIssue[] {
  const variable = 'AUTH_ORGANIZATIONS_DNS_SERVERS'
  const servers = config[variable] ?? []
  if (servers.every(isServerAddress)) return []
  const hint = 'it must list IP addresses, with a port where it is not 53: 10.0.0.2,10.0.0.3:5353'
  return [{ variable, problem: 'contains an entry that is not the address of a DNS server', hint }]
}

function isServerAddress(server: string): boolean {
  try {
    new Resolver().setServers([server])
    return true
  } catch {
    return false
  }
}

/** The requirements of RFC 9116 on a security.txt. */
export function securityTxtRule(config: Config): ConfigIssue[] {
  const contacts = config.AUTH_SECURITY_TXT_CONTACT
  if (contacts.length === 0) return []
  const invalid = contacts.filter(
    (contact) => !/^(mailto:\S+@\S+|https:\/\/\S+|tel:\S+)$/i.test(contact),
  )
  return [
    ...missing(config, ['AUTH_SECURITY_TXT_EXPIRES'], 'AUTH_SECURITY_TXT_CONTACT is set'),
    ...invalid.map((contact) => ({
      variable: 'AUTH_SECURITY_TXT_CONTACT',
      problem: `contains "${contact}"`,
      hint: 'each contact must be an address such as mailto:security@example.com or https://example.com/report',
    })),
    ...languageIssues(config),
  ]
}

function languageIssues({ AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: tags }: Config): ConfigIssue[] {
  const invalid = tags.filter((tag) => !/^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(tag))
  return invalid.map((tag) => ({
    variable: 'AUTH_SECURITY_TXT_PREFERRED_LANGUAGES',
    problem: `contains "${tag}"`,
    hint: 'it must be language tags such as en or pt-BR, separated by commas',
  }))
}
