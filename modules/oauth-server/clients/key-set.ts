import type { JSONWebKeySet, JWK } from 'jose'

import { isRecord } from '../../../schemas/values/record.ts'

/** Of a document at a jwks_uri. */
export const maxKeySetLength = 65_536
export const maxClientKeys = 50

/** Without certificates, which are not used, and lists of any length. */
const members = ['kty', 'kid', 'use', 'alg', 'crv', 'x', 'y', 'n', 'e']

/** The keys that a client registered, or that its jwks_uri serves. Throws an Error for anything else. */
export function readClientKeys(value: unknown): JSONWebKeySet {
  if (!isRecord(value) || !Array.isArray(value.keys)) throw new Error('it is not a key set')
  if (value.keys.length > maxClientKeys) throw new Error(`it has more than ${maxClientKeys} keys`)
  return { keys: value.keys.map(readKey) }
}

function readKey(value: unknown): JWK {
  if (!isRecord(value)) throw new Error('a key is not an object')
  const entries = members.map((name) => [name, value[name]])
  return Object.fromEntries(entries.filter(([, member]) => typeof member === 'string'))
}
