/** Authorization requests of clients, through the browser or /oauth/par. */
import { randomBytes } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import {
  consumePushedRequest,
  insertAuthorization,
  insertPushedRequest,
} from '../../../db/oauth-server/authorizations.ts'
import {
  invalidScope,
  invalidTarget,
  oauthClientNotFound,
  oauthInvalidRequest,
  validationFailed,
} from '../../../schemas/errors.ts'
import { type Client, hashClientSecret, makeSecret } from '../clients/client.ts'
import { findClient } from '../clients/find.ts'
import { isRegistered } from '../clients/redirect-uris.ts'
import { readParameters, withoutUnknown } from './parameters.ts'
import { type PostedResponse, respond } from './redirect.ts'
import { readErrorMode, readResponseMode } from './response-mode.ts'
import { AuthorizationError, type SentParameters, sentValue } from './sent.ts'

/** A stored request, or the response with the error. */
export type CreatedRequest =
  | { state: 'pending'; authorizationId: string }
  | {
      state: 'rejected'
      response: string | PostedResponse
      error: string
      /**
       * The redirect URI was not verified by an operator: the browser must not be redirected without the user (RFC 9700
       * §4.11.2).
       */
      isSelfRegistered: boolean
    }

const requestUriPrefix = 'urn:ietf:params:oauth:request_uri:'

/** Seconds. */
export const pushedRequestSeconds = 90

/**
 * Stores the request. Throws validation_failed or oauth_client_not_found when the browser must not be redirected
 * because the redirect URI may not be the client's.
 */
export async function createAuthorizationRequest(
  app: FastifyInstance,
  query: SentParameters,
  now: Date,
): Promise<CreatedRequest> {
  const clientId = sentValue(query, 'client_id')
  if (!clientId) throw validationFailed('client_id is missing')
  const client = await findClient(app, clientId, now)
  if (!client) throw oauthClientNotFound(400)
  const sent = await pushedOr(app, client, query, now)
  const redirectUri = readRedirectUri(client, sent)
  try {
    const mode = readResponseMode(sent, redirectUri)
    const { parameters, ...read } = readParameters(app, client, sent)
    const authorizationId = makeId()
    const stored = {
      ...read,
      parameters: { ...parameters, ...(mode && { response_mode: mode }) },
      authorization_id: authorizationId,
      client_id: client.id,
      redirect_uri: redirectUri,
      expires_at: secondsAfter(now, app.config.AUTH_OAUTH_SERVER_AUTHORIZATION_TTL),
    }
    await insertAuthorization(app.db, stored, now)
    return { state: 'pending', authorizationId }
  } catch (error) {
    if (!(error instanceof AuthorizationError)) throw error
    const reported = { error: error.error, error_description: error.message }
    const parameters = { ...reported, state: sentValue(sent, 'state') }
    return {
      state: 'rejected',
      response: respond(app, { redirectUri, mode: readErrorMode(sent, redirectUri) }, parameters),
      error: error.error,
      isSelfRegistered: client.isSelfRegistered,
    }
  }
}

/** The pushed parameters, when the request refers to them (RFC 9126 §4). Throws validation_failed. */
async function pushedOr(
  { db }: FastifyInstance,
  client: Client,
  query: SentParameters,
  now: Date,
): Promise<SentParameters> {
  const requestUri = sentValue(query, 'request_uri')
  if (!requestUri?.startsWith(requestUriPrefix)) {
    if (client.settings.require_pushed_authorization_requests) {
      throw validationFailed('This client must push its requests to /oauth/par')
    }
    return query
  }
  const id = hashClientSecret(requestUri.slice(requestUriPrefix.length))
  const pushed = await consumePushedRequest(db, id, client.id, now)
  if (!pushed) throw validationFailed('The request_uri is unknown, used or expired')
  return pushed.parameters
}

/** Throws validation_failed. */
function readRedirectUri({ redirectUris }: Client, sent: SentParameters): string {
  const { redirect_uri: redirectUri } = sent
  if (redirectUri === undefined || redirectUri === '') {
    throw validationFailed('redirect_uri is missing')
  }
  if (typeof redirectUri !== 'string' || !isRegistered(redirectUri, redirectUris)) {
    throw validationFailed('redirect_uri is not registered for this client')
  }
  return redirectUri
}

/** The request URI of a pushed request. Throws invalid_request, invalid_scope or invalid_target. */
export async function pushRequest(
  app: FastifyInstance,
  client: Client,
  sent: SentParameters,
  now: Date,
): Promise<string> {
  if (sent.request_uri) throw oauthInvalidRequest('request_uri cannot be pushed')
  checkPushed(app, client, sent)
  const parameters = { ...withoutUnknown(sent), client_id: client.clientId }
  const reference = makeSecret()
  const expiresAt = secondsAfter(now, pushedRequestSeconds)
  const stored = { id: hashClientSecret(reference), client_id: client.id, parameters, expiresAt }
  await insertPushedRequest(app.db, stored, now)
  return `${requestUriPrefix}${reference}`
}

function checkPushed(app: FastifyInstance, client: Client, sent: SentParameters): void {
  try {
    readResponseMode(sent, readRedirectUri(client, sent))
    readParameters(app, client, sent)
  } catch (error) {
    const description = error instanceof Error ? error.message : ''
    if (!(error instanceof AuthorizationError)) throw oauthInvalidRequest(description)
    if (error.error === 'invalid_scope') throw invalidScope(description)
    if (error.error === 'invalid_target') throw invalidTarget(description)
    throw oauthInvalidRequest(description)
  }
}

/** 160 random bits as 32 letters and digits, in GoTrue's form. */
function makeId(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  return Array.from(randomBytes(32), (byte) => letters[byte % letters.length]).join('')
}

function secondsAfter(now: Date, seconds: number): Date {
  return new Date(now.getTime() + seconds * 1000)
}
