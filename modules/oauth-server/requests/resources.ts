/** The requested resource servers (RFC 8707). */
import type { Deps } from '../../../plugins/define-plugin.ts'
import type { Client } from '../clients/client.ts'
import { isAbsoluteUri } from '../clients/urls.ts'
import { AuthorizationError } from './authorization-error.ts'

/** RFC 8707 §2.1: registered resources only, otherwise any client could get tokens for any audience. */
export function readResources(
  { config }: Deps<'config'>,
  { settings }: Client,
  sent: readonly string[],
): string[] {
  const registered = [...config.AUTH_OAUTH_SERVER_RESOURCES, ...(settings.resources ?? [])]
  for (const resource of sent) {
    if (!isAbsoluteUri(resource) || new URL(resource).search) {
      throw new AuthorizationError(
        'invalid_target',
        'resource must be an absolute URI without query and fragment',
      )
    }
    if (!registered.includes(resource)) {
      throw new AuthorizationError(
        'invalid_target',
        'This client may not get tokens for this resource: register it in AUTH_OAUTH_SERVER_RESOURCES or for the client',
      )
    }
  }
  return [...new Set(sent)]
}
