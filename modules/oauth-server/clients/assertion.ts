/** private_key_jwt: a client authenticates with an assertion signed by its key (RFC 7523, OpenID Connect Core §9). */
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'

import { consumeOnce } from '../../../db/replays/replays.ts'
import type { Deps } from '../../../plugins/define-plugin.ts'
import { invalidClient } from '../../../schemas/errors.ts'
import { assertionAlgorithms } from '../../../schemas/oauth/client.ts'
import { isRecord } from '../../../schemas/values/record.ts'
import type { Client } from './client.ts'
import { hashClientSecret } from './secret.ts'

export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** Seconds. */
const maxLifetime = 600
const clockTolerance = 5
const keysAge = 300
/** Seconds between fetches for unknown keys, which any client may name. */
const refetchAfter = 30

type AssertionDeps = Deps<'config' | 'db' | 'httpClient' | 'jwt'>

interface FetchedKeys {
  keys: Promise<JSONWebKeySet>
  /** Milliseconds; of the last fetch for an unknown key, so that a rotation is noticed right after the first fetch. */
  refetchedAt?: number
}

/** Cached keys of `jwks_uri`, by URL. A failed fetch is cached for a shorter time. */
const fetchedKeys = new LRUCache<string, FetchedKeys>({ max: 500, ttl: keysAge * 1000 })

/** Throws invalid_client. */
export async function verifyClientAssertion(
  deps: AssertionDeps,
  client: Client,
  assertion: string,
  now: Date,
): Promise<void> {
  const { jti, exp } = await readAssertion(deps, client, assertion, now)
  if (typeof jti !== 'string' || jti === '' || exp === undefined) {
    throw invalidClient('The client assertion must have the claims jti and exp', false)
  }
  if (exp > now.getTime() / 1000 + maxLifetime) {
    throw invalidClient(`The client assertion is valid for more than ${maxLifetime} seconds`, false)
  }
  const key = `assertion ${hashClientSecret(JSON.stringify([client.id, jti]))}`
  const expiresAt = new Date((exp + clockTolerance) * 1000)
  const consume = deps.db.transaction().execute((trx) => consumeOnce(trx, key, expiresAt))
  if (!(await consume)) {
    throw invalidClient('The client assertion was already used', false)
  }
}

/** The client id that an unverified assertion claims. */
export function assertionSubject(assertion: string): string | undefined {
  try {
    const [, payload = ''] = assertion.split('.')
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return isRecord(claims) && typeof claims.sub === 'string' ? claims.sub : undefined
  } catch {
    return undefined
  }
}

async function readAssertion(
  deps: AssertionDeps,
  client: Client,
  assertion: string,
  now: Date,
): Promise<JWTPayload> {
  const { config, jwt } = deps
  const verify = async (isFresh: boolean) => {
    const keys = createLocalJWKSet(await loadKeys(deps, client, isFresh, now))
    const { payload } = await jwtVerify(assertion, keys, {
      algorithms: assertionAlgorithms,
      audience: [jwt.issuer, `${config.AUTH_API_EXTERNAL_URL}/oauth/token`],
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
  deps: AssertionDeps,
  { settings: { jwks, jwks_uri: uri } }: Client,
  isFresh: boolean,
  now: Date,
): Promise<JSONWebKeySet> {
  if (!uri) return jwks as JSONWebKeySet
  const known = fetchedKeys.get(uri)
  if (known && !(isFresh && mayRefetch(known, now))) return known.keys
  const keys = fetchKeys(deps, uri)
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

async function fetchKeys({ httpClient }: AssertionDeps, uri: string): Promise<JSONWebKeySet> {
  const response = await httpClient.fetchFromOauthClient(uri, { redirect: 'error' })
  const keys: unknown = await response.json()
  if (!response.ok || !isKeySet(keys)) throw new Error('the jwks_uri serves no key set')
  return keys
}

function isKeySet(value: unknown): value is JSONWebKeySet {
  return isRecord(value) && Array.isArray(value.keys) && value.keys.every(isRecord)
}
