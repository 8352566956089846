import type { Config } from '../../plugins/config/config.ts'
import { version } from '../../version.ts'
import type { ApiTokens } from './api-tokens.ts'

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
  Inbox             ${url}/dev/inbox
  Reference         ${url}/docs
  Database          ${config.DATABASE_URL}

  anon key          ${tokens.anon}
  service_role key  ${tokens.service_role}

Sign somebody up, and find the mail in the inbox:

  curl ${url}/signup -H 'content-type: application/json' \\
    -d '{"email":"ann@example.com","password":"correct horse"}'

Data and secrets are kept in .data/. Ctrl-C stops everything. LOG_LEVEL=info shows every request.
`
}
