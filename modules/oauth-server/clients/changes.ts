/** Changes of a client after which an earlier consent, or the client itself, means something else. */
import { isDeepStrictEqual } from 'node:util'

import type { ClientValues } from '../../../db/oauth-server/clients.ts'
import { type AuthMethod, type Client, joinList } from './client.ts'

/** The client after the change. */
type Changed = Pick<ClientValues, 'client_name' | 'redirect_uris' | 'settings'>

/**
 * Whether users are asked for consent again: codes go to another place, the client has another name, or its tokens are
 * valid in the database, too.
 */
export function asksAgain(before: Client, after: Changed): boolean {
  return (
    joinList(before.redirectUris) !== after.redirect_uris ||
    before.name !== after.client_name ||
    widensAudience(before, after)
  )
}

/** The names of the changed fields that decide who receives codes and tokens of users. */
export function listDecisiveChanges(
  before: Client,
  after: Changed & { authMethod: AuthMethod },
): string[] {
  const [old, now] = [before.settings, after.settings]
  return [
    ...(joinList(before.redirectUris) === after.redirect_uris ? [] : ['redirect_uris']),
    ...(before.authMethod === after.authMethod ? [] : ['token_endpoint_auth_method']),
    ...(isDeepStrictEqual(old.jwks, now.jwks) ? [] : ['jwks']),
    ...(old.jwks_uri === now.jwks_uri ? [] : ['jwks_uri']),
    ...(widensAudience(before, after) ? ['include_default_audience'] : []),
  ]
}

function widensAudience({ settings: before, isSelfRegistered }: Client, { settings }: Changed) {
  const [old, now] = [before.include_default_audience, settings.include_default_audience]
  return isSelfRegistered ? now === true && old !== true : old === false && now !== false
}
