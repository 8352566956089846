import type { Config } from '../../config/groups/index.ts'
import { version } from '../../version.ts'
import type { ApiTokens } from './api-tokens.ts'
import { databaseName } from './open-database.ts'

interface Ready {
  config: Config
  tokens: ApiTokens
  /** Creates the first admin, while there is none. */
  link?: string | undefined
  /** Duration of the start. */
  seconds: number
}

/** The text at the start, with commands to paste. */
export function welcome({ config, tokens, link, seconds }: Ready): string {
  const url = config.AUTH_API_EXTERNAL_URL
  return `
Postern ${version} is ready for development (${seconds.toFixed(1)} s)

  API               ${url}
${consoleLine(config)}${accountLine(config)}  Example           ${url}/dev/example
  Inbox             ${url}/dev/inbox
  Guide             ${url}/docs/guide
  Reference         ${url}/docs
  Your site         ${describeSite(config)}
  Email             ${describeMail(config)}
  Database          ${describeDatabase(config)}

  anon key          ${tokens.anon}
  service_role key  ${tokens.service_role}
${firstAdmin(link)}
Sign up a user and find the email in the inbox:

  curl ${url}/signup -H 'content-type: application/json' \\
    -d '{"email":"ann@example.com","password":"correct horse"}'

Data and secrets are stored in .data/. Ctrl-C stops everything. LOG_LEVEL=info logs every request.
`
}

function consoleLine({ AUTH_CONSOLE_ENABLED, AUTH_API_EXTERNAL_URL: url }: Config): string {
  return AUTH_CONSOLE_ENABLED ? `  Console           ${url}/console\n` : ''
}

function accountLine({ AUTH_ACCOUNT_PAGE_ENABLED, AUTH_API_EXTERNAL_URL: url }: Config): string {
  return AUTH_ACCOUNT_PAGE_ENABLED ? `  Account page      ${url}/account\n` : ''
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
