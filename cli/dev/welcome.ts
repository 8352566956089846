import type { Config } from '../../plugins/config/config.ts'
import { version } from '../../version.ts'
import type { ApiTokens } from './api-tokens.ts'
import { databaseName } from './open-database.ts'

export interface Ready {
  config: Config
  tokens: ApiTokens
  /** How long the start took. */
  seconds: number
}

/** What a newcomer needs to go on, to be pasted. */
export function welcome({ config, tokens, seconds }: Ready): string {
  const url = config.AUTH_API_EXTERNAL_URL
  return `
Postern ${version} is ready for development (${seconds.toFixed(1)} s)

  API               ${url}
  Example           ${url}/dev/example
  Inbox             ${url}/dev/inbox
  Guide             ${url}/docs/guide
  Reference         ${url}/docs
  Your site         ${siteOf(config)}
  Mail              ${mailOf(config)}
  Database          ${databaseOf(config)}

  anon key          ${tokens.anon}
  service_role key  ${tokens.service_role}

Sign somebody up, and find the mail in the inbox:

  curl ${url}/signup -H 'content-type: application/json' \\
    -d '{"email":"ann@example.com","password":"correct horse"}'

Data and secrets are kept in .data/. Ctrl-C stops everything. LOG_LEVEL=info shows every request.
`
}

/** Where links in mails lead. */
function siteOf({ AUTH_SITE_URL: site, AUTH_API_EXTERNAL_URL: own }: Config): string {
  const isOurs = site.startsWith(own) && site.endsWith('/dev/signed-in')
  return isOurs ? `${site} (until AUTH_SITE_URL says where it is)` : site
}

function mailOf({ AUTH_SMTP_HOST: host }: Config): string {
  return host === undefined
    ? 'stays in the inbox'
    : `GOES OUT through ${host}, and is in the inbox as well`
}

/** The password is shown of what lies in .data/ alone. */
function databaseOf({ DATABASE_URL: text }: Config): string {
  const url = URL.parse(text)
  return url?.hostname === '127.0.0.1' ? text : databaseName(text)
}
