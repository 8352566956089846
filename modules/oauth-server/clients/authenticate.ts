/** Client authentication at the token, revocation, introspection and pushed request endpoints (RFC 6749 §2.3). */
import type { FastifyInstance } from 'fastify'
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'

import { consumeOnce } from '../../../db/replays/replays.ts'
import { invalidClient } from '../../../schemas/errors.ts'
import { assertionAlgorithms } from '../../../schemas/oauth/client.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import { isSameUri } from '../../../schemas/values/uris.ts'
import { type AuthMethod, type Client, hashClientSecret, isSecret } from './client.ts'
import { findKnownClient } from './find.ts'
import { maxKeySetLength, readClientKeys } from './metadata.ts'

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

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Seconds. */
const maxLifetime = 600
const clockTolerance = 5
const keysAge = 300
/** Seconds between fetches for unknown keys, which any client may name. */
const refetchAfter = 30

interface FetchedKeys {
  keys: Promise<JSONWebKeySet>
  /** Milliseconds; of the last fetch for an unknown key, so that a rotation is noticed right after the first fetch. */
  refetchedAt?: number
}

/** Cached keys of `jwks_uri`, by URL. A failed fetch is cached for a shorter time. */
const fetchedKeys = new LRUCache<string, FetchedKeys>({ max: 500, ttl: keysAge * 1000 })

interface PresentedAssertion {
  assertion: string
  /** The path of the endpoint that was called. */
  endpoint: string
}

/**
 * private_key_jwt: the client authenticates with an assertion signed by its key (RFC 7523, OpenID Connect Core §9). Throws
 * invalid_client.
 */
async function verifyClientAssertion(
  app: FastifyInstance,
  client: Client,
  presented: PresentedAssertion,
  now: Date,
): Promise<void> {
  const { aud, jti, exp } = await readAssertion(app, client, presented.assertion, now)
  if (!isForThisServer(app, aud, presented.endpoint)) {
    throw invalidClient(
      'The audience of the client assertion must be the issuer, the token endpoint or this endpoint',
      false,
    )
  }
  if (typeof jti !== 'string' || jti === '' || exp === undefined) {
    throw invalidClient('The client assertion must have the claims jti and exp', false)
  }
  if (exp > now.getTime() / 1000 + maxLifetime) {
    throw invalidClient(`The client assertion is valid for more than ${maxLifetime} seconds`, false)
  }
  const key = `assertion ${hashClientSecret(JSON.stringify([client.id, jti]))}`
  const expiresAt = new Date((exp + clockTolerance) * 1000)
  const consume = app.db.transaction().execute((trx) => consumeOnce(trx, key, expiresAt))
  if (!(await consume)) {
    throw invalidClient('The client assertion was already used', false)
  }
}

/**
 * Whether every audience is this server: its issuer, its token endpoint or the endpoint that was called, with or without
 * a slash at its end (RFC 7523 §3, RFC 9126 §2, OpenID Connect Core §9).
 */
function isForThisServer(
  { config, jwt }: FastifyInstance,
  aud: JWTPayload['aud'],
  endpoint: string,
): boolean {
  const base = config.AUTH_API_EXTERNAL_URL
  const own = [jwt.issuer, `${base}/oauth/token`, `${base}${endpoint}`].map(withoutSlash)
  // The claim is what the client wrote, of any type.
  const named: unknown[] = [aud ?? []].flat()
  const isOwn = (each: unknown) =>
    typeof each === 'string' && own.some((uri) => isSameUri(uri, withoutSlash(each)))
  return named.length > 0 && named.every(isOwn)
}

function withoutSlash(uri: string): string {
  return uri.replace(/\/$/, '')
}

/** The client id that an unverified assertion claims. */
function assertionSubject(assertion: string): string | undefined {
  try {
    const [, payload = ''] = assertion.split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return isRecord(claims) && typeof claims.sub === 'string' ? claims.sub : undefined
  } catch {
    return undefined
  }
}

async function readAssertion(
  app: FastifyInstance,
  client: Client,
  assertion: string,
  now: Date,
): Promise<JWTPayload> {
  const verify = async (isFresh: boolean) => {
    const keys = createLocalJWKSet(await loadKeys(app, client, isFresh, now))
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: assertionAlgorithms,
      issuer: client.clientId,
      subject: client.clientId,
      clockTolerance,
      currentDate: now,
    })
    return payload
  }
  try {
    // The client may have rotated its keys since they were fetched.
    return await verify(false).catch((error) => {
      if (error?.code !== 'ERR_JWKS_NO_MATCHING_KEY') throw error
      return verify(true)
    })
  } catch {
    throw invalidClient('The client assertion is not valid', false)
  }
}

async function loadKeys(
  app: FastifyInstance,
  { settings: { jwks, jwks_uri: uri } }: Client,
  isFresh: boolean,
  now: Date,
): Promise<JSONWebKeySet> {
  if (!uri) return readClientKeys(jwks)
  const known = fetchedKeys.get(uri)
  if (known && !(isFresh && mayRefetch(known, now))) return known.keys
  const keys = fetchKeys(app, uri)
  const refetched = isFresh ? { refetchedAt: now.getTime() } : {}
  // Known keys stay in use until others are fetched, so that an outage does not reject their clients.
  if (known) Object.assign(known, refetched)
  else fetchedKeys.set(uri, { keys }, { ttl: refetchAfter * 1000 })
  keys.then(
    () => fetchedKeys.set(uri, { keys, ...refetched }),
    () => {},
  )
  return keys
}

function mayRefetch({ refetchedAt = 0 }: FetchedKeys, now: Date): boolean {
  return now.getTime() - refetchedAt >= refetchAfter * 1000
}

async function fetchKeys({ httpClient }: FastifyInstance, uri: string): Promise<JSONWebKeySet> {
  const response = await httpClient.fetchFromOauthClient(uri, { redirect: 'error' })
  const text = await response.text()
  if (!response.ok) throw new Error(`the jwks_uri returns status ${response.status}`)
  if (text.length > maxKeySetLength) throw new Error('the key set at the jwks_uri is too long')
  return readClientKeys(JSON.parse(text))
}
