/** The base URL of links in emails: this server, under the name that the operator configured. */
import type { IncomingHttpHeaders } from 'node:http'

import { mailBaseUrl } from '../../../mail/kinds/confirmation-url.ts'

export function createBaseUrl(externalUrl: string, externalHosts: readonly string[]) {
  return (headers: IncomingHttpHeaders): string =>
    mailBaseUrl({
      externalUrl,
      externalHosts,
      forwardedHost: first(headers['x-forwarded-host']),
      forwardedProto: first(headers['x-forwarded-proto']),
    })
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
