/** Client authentication at the token, revocation, introspection and pushed request endpoints (RFC 6749 §2.3). */
import type { FastifyInstance } from 'fastify'

import { invalidClient } from '../../../schemas/errors.ts'
import { assertionSubject, assertionType, verifyClientAssertion } from './assertion.ts'
import type { AuthMethod, Client } from './client.ts'
import { findKnownClient } from './find.ts'
import { isSecret } from './secret.ts'

/** The credentials of a request. */
interface PresentedCredentials {
  authorization: string | undefined
  /** The path of the endpoint, which an assertion may name as its audience. */
  endpoint: string
  client_id?: string | undefined
  client_secret?: string | undefined
  client_assertion?: string | undefined
  client_assertion_type?: string | undefined
}

interface Credentials {
  method: AuthMethod
  clientId: string
  secrets: string[]
  assertion?: string
}

/**
 * Authenticates the client by its registered method; a secret may come in either place, because many libraries have a
 * preference of their own. With `findClient`, a client may be new. Throws invalid_client or invalid_request.
 */
export async function authenticateClient(
  app: FastifyInstance,
  presented: PresentedCredentials,
  now: Date,
  find: typeof findKnownClient = findKnownClient,
): Promise<Client> {
  const { method, clientId, secrets, assertion } = readCredentials(presented)
  const usesBasic = method === 'client_secret_basic'
  const client = await find(app, clientId, now)
  if (!client) throw invalidClient('No client has this client_id', usesBasic)
  if (
    client.authMethod !== method &&
    !(isSecretMethod(client.authMethod) && isSecretMethod(method))
  ) {
    throw invalidClient(`This client must authenticate with ${client.authMethod}`, usesBasic)
  }
  if (assertion !== undefined) {
    await verifyClientAssertion(app, client, { assertion, endpoint: presented.endpoint }, now)
  }
  if (isSecretMethod(method) && !secrets.some((secret) => isSecret(secret, client.secretHash))) {
    throw invalidClient('The client secret is wrong', usesBasic)
  }
  return client
}

function isSecretMethod(method: AuthMethod): boolean {
  return method === 'client_secret_basic' || method === 'client_secret_post'
}

function readCredentials(presented: PresentedCredentials): Credentials {
  const { authorization, client_id: clientId, client_secret: secret } = presented
  const { client_assertion: assertion } = presented
  if (authorization && /^basic /i.test(authorization)) {
    const basic = readBasic(authorization)
    const isMixed = (clientId !== undefined && clientId !== basic.clientId) || secret || assertion
    if (isMixed) throw invalidClient('Authenticate with one method only', true)
    return basic
  }
  if (assertion !== undefined) return readAssertionFields(presented, assertion)
  if (!clientId) throw invalidClient('client_id is missing', false)
  if (secret) return { method: 'client_secret_post', clientId, secrets: [secret] }
  return { method: 'none', clientId, secrets: [] }
}

/** RFC 6749 §2.3.1 form-encodes both parts; GoTrue and many clients do not, which matters for the secret only. */
function readBasic(authorization: string): Credentials {
  const text = Buffer.from(authorization.slice('basic '.length).trim(), 'base64').toString()
  const colon = text.indexOf(':')
  if (colon < 0) throw invalidClient('The Basic credentials are malformed', true)
  const [id, secret] = [text.slice(0, colon), text.slice(colon + 1)]
  const secrets = [...new Set([secret, formDecoded(secret)])]
  return { method: 'client_secret_basic', clientId: formDecoded(id), secrets }
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

function readAssertionFields(presented: PresentedCredentials, assertion: string): Credentials {
  if (presented.client_assertion_type !== assertionType) {
    throw invalidClient(`client_assertion_type must be ${assertionType}`, false)
  }
  const clientId = presented.client_id ?? assertionSubject(assertion)
  if (!clientId) throw invalidClient('The client assertion has no client id', false)
  return { method: 'private_key_jwt', clientId, secrets: [], assertion }
}
