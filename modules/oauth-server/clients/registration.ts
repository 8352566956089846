/** Dynamic client registration and management (RFC 7591, RFC 7592). */
import type { FastifyInstance } from 'fastify'

import type { Trx } from '../../../db/core/database.ts'
import { findClientById, updateClient } from '../../../db/oauth-server/clients.ts'
import { dynamicRegistrationDisabled, invalidToken } from '../../../schemas/errors.ts'
import { isUuid } from '../../../schemas/fields.ts'
import {
  type ClientRegistration,
  type OauthClient,
  selfDescribed,
} from '../../../schemas/oauth/client.ts'
import { type Client, isSecret, showClient, toClient } from './client.ts'
import { requireIdTokenAlgorithm } from './id-token-algorithm.ts'
import { asksAgain, type CreatedClient, createClient, getClient } from './manage.ts'
import { readClientMetadata, reduceToSupported } from './metadata.ts'
import { checkSelfChosenName } from './names.ts'

/** Throws oauth_dynamic_client_registration_disabled. */
export function requireRegistration({ config }: FastifyInstance): void {
  if (!config.AUTH_OAUTH_SERVER_ALLOW_DYNAMIC_REGISTRATION) throw dynamicRegistrationDisabled()
}

/** Throws invalid_client_metadata or invalid_redirect_uri. */
export function registerClient(
  app: FastifyInstance,
  trx: Trx,
  fields: ClientRegistration,
  now: Date,
): Promise<CreatedClient> {
  requireIdTokenAlgorithm(app, fields, now)
  return createClient(app, trx, reduceToSupported(app, selfDescribed(fields)), 'dynamic', now)
}

/** The client of a registration access token. Throws invalid_token, also for a deleted client (RFC 7592 §2.1). */
export async function authenticateRegistration(
  { db }: FastifyInstance,
  id: string,
  authorization: string | undefined,
): Promise<Client> {
  const token = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? '')?.[1]
  const row = isUuid(id) ? await findClientById(db, id) : undefined
  if (!token || !row || !isSecret(token, row.registration_token_hash)) {
    throw invalidToken('The registration access token does not belong to this client')
  }
  return toClient(row)
}

/** Replaces the client's own metadata; fields that only the operator sets are kept. */
export async function replaceRegistration(
  app: FastifyInstance,
  trx: Trx,
  before: Client,
  fields: ClientRegistration,
  now: Date,
): Promise<Client> {
  requireIdTokenAlgorithm(app, fields, now)
  const { require_pkce, resources, include_default_audience } = before.settings
  const operators = {
    ...(require_pkce !== undefined && { require_pkce }),
    ...(resources && { resources }),
    ...(include_default_audience !== undefined && { include_default_audience }),
  }
  // The authentication method belongs to the secret.
  const method = { token_endpoint_auth_method: before.authMethod, client_type: before.type }
  const { values } = readClientMetadata(app, {
    ...reduceToSupported(app, selfDescribed(fields)),
    ...operators,
    ...method,
  })
  await checkSelfChosenName(trx, fields.client_name)
  await updateClient(trx, before.id, { ...values, asksAgain: asksAgain(before, values) }, now)
  return getClient(trx, before.id)
}

/** RFC 7591 §3.2.1. */
export function showRegistration(
  { config }: FastifyInstance,
  client: Client,
  shown: Partial<Pick<CreatedClient, 'secret' | 'registrationToken'>> = {},
): OauthClient {
  const { secret, registrationToken } = shown
  return {
    ...showClient(client),
    client_id_issued_at: Math.floor(client.row.created_at.getTime() / 1000),
    ...(secret !== undefined && { client_secret: secret, client_secret_expires_at: 0 }),
    ...(registrationToken !== undefined && { registration_access_token: registrationToken }),
    // A public client has no token: identical registrations share one row, which none of them may change.
    ...(client.row.registration_token_hash !== null && {
      registration_client_uri: `${config.AUTH_API_EXTERNAL_URL}/oauth/clients/register/${client.id}`,
    }),
  }
}
