/** What `npm run dev` prints when it is ready. */
import type { Config } from '../../config/groups/index.ts'
import { version } from '../../version.ts'
import { databaseName } from './open-database.ts'

export interface ApiTokens {
  anon: string
  service_role: string
}

interface Ready {
  config: Config
  tokens: ApiTokens
  /** Creates the first admin, while there is none. */
  link?: string | undefined
  /** Duration of the start. */
  seconds: number
  /** The sample organization exists. */
  hasSample: boolean
}

/** The text at the start, with commands to paste. */
export function welcome({ config, tokens, link, seconds, hasSample }: Ready): string {
  const url = config.AUTH_API_EXTERNAL_URL
  return `
Postern ${version} is ready for development (${seconds.toFixed(1)} s)

${aligned({
  API: url,
  Console: config.AUTH_CONSOLE_ENABLED && `${url}/console`,
  'Account page': config.AUTH_ACCOUNT_PAGE_ENABLED && `${url}/account`,
  'Hosted sign-in': `${url}/sign-in`,
  Example: `${url}/dev/example`,
  Inbox: `${url}/dev/inbox`,
  Guide: `${url}/docs/guide`,
  Reference: `${url}/docs`,
  'Your site': describeSite(config),
  Email: describeMail(config),
  Database: describeDatabase(config),
})}

${aligned(features(config, hasSample))}

${aligned({ 'anon key': tokens.anon, 'service_role key': tokens.service_role })}
${firstAdmin(link)}
Sign up a user and find the email in the inbox:

  curl ${url}/signup -H 'content-type: application/json' \\
    -d '{"email":"ann@example.com","password":"correct horse"}'

Data and secrets are stored in .data/. Ctrl-C stops everything. LOG_LEVEL=info logs every request.
`
}

type Lines = Record<string, string | false>

/** What a deployment has to enable. */
function features(config: Config, hasSample: boolean): Lines {
  const url = config.AUTH_API_EXTERNAL_URL
  const registers = config.AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION
  return {
    Organizations:
      config.AUTH_ORGANIZATIONS_ENABLED &&
      (hasSample ? 'on; users of example.com join the organization Example' : 'on'),
    Usernames: config.AUTH_USERNAMES_ENABLED && 'on, at sign-up and sign-in',
    'OAuth provider':
      config.AUTH_OAUTH_SERVER_ENABLED &&
      `issuer ${config.AUTH_JWT_ISSUER ?? url}${registers ? '; clients may register themselves' : ''}`,
    SAML: config.AUTH_SAML_ENABLED && `metadata ${url}/sso/saml/metadata`,
    SCIM: config.AUTH_EXPERIMENTAL_SCIM_ENABLED && `on; ${url}/docs/guide/scim`,
    Events: config.AUTH_EVENTS_ENABLED && 'on; for webhooks, and at /admin/events',
  }
}

/** One line for each entry that is not false. */
function aligned(lines: Lines): string {
  return Object.entries(lines)
    .filter(([, text]) => text !== false)
    .map(([name, text]) => `  ${name.padEnd(16)}  ${text}`)
    .join('\n')
}

function firstAdmin(link: string | undefined): string {
  return link === undefined
    ? ''
    : `\nMake yourself the first admin (once, within 24 hours):\n\n  ${link}\n`
}

/** The target of links in emails. */
function describeSite({ AUTH_SITE_URL: site, AUTH_API_EXTERNAL_URL: own }: Config): string {
  const isOurs = site.startsWith(own) && site.endsWith('/dev/signed-in')
  return isOurs ? `${site} (until AUTH_SITE_URL is set)` : site
}

function describeMail({ AUTH_SMTP_HOST: host }: Config): string {
  return host === undefined ? 'only in the inbox' : `SENT through ${host}, also in the inbox`
}

/** The password is shown for the embedded database only. */
function describeDatabase({ DATABASE_URL: text }: Config): string {
  const url = URL.parse(text)
  return url?.hostname === '127.0.0.1' ? text : databaseName(text)
}
