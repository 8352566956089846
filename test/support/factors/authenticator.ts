/** A software authenticator: creates key pairs and signs (WebAuthn Level 3 §6), optionally with errors. */
import {
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'

import { isoCBOR } from '@simplewebauthn/server/helpers'

export interface Traits {
  rpId: string
  origin: string
  /** Verifies its user by fingerprint or PIN. */
  verifies?: boolean
  /** Counts its signatures. */
  counts?: boolean
  /** Copies its keys to other devices of the user. */
  syncs?: boolean
  /** Stores the user handle and returns it: without it, the key is a second factor and no passkey. */
  discoverable?: boolean
  /** Of its maker, as a UUID. */
  aaguid?: string
  algorithm?: Algorithm
  /** Bytes of the id of its key pair; 32 when absent. */
  idSize?: number
}

/** Deviations from a correct response. */
export interface Forgery {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  counter?: number
  /** In the place of the credential's own. */
  id?: string
  userHandle?: string | undefined
  /** Instead of the flags of the traits. */
  flags?: number
  privateKey?: KeyObject
}

export type Algorithm = 'ES256' | 'EdDSA' | 'RS256'

interface Creation {
  challenge: string
  user: { id: string }
}

interface Request {
  challenge: string
}

const flag = { present: 0x01, verified: 0x04, eligible: 0x08, backedUp: 0x10, attested: 0x40 }

type Transport = 'internal' | 'hybrid' | 'usb'

export type Authenticator = ReturnType<typeof newAuthenticator>

/** With one key pair, created on request. */
export function newAuthenticator(traits: Traits) {
  const { publicKey, privateKey } = keyPair(traits.algorithm ?? 'ES256')
  const rawId = randomBytes(traits.idSize ?? 32)
  const id = rawId.toString('base64url')
  const transports: Transport[] = traits.discoverable ? ['internal', 'hybrid'] : ['usb']
  let counter = 0
  let userHandle: string | undefined

  return {
    id,
    privateKey,

    /** Its key as it is stored. */
    publicKey: coseKey(publicKey.export({ format: 'jwk' })),

    /** The result of `navigator.credentials.create()`. */
    create({ challenge, user }: Creation, forgery: Forgery = {}) {
      userHandle = traits.discoverable ? user.id : undefined
      const data = Buffer.concat([
        header(traits, forgery, flag.attested, forgery.counter ?? counter),
        Buffer.from((traits.aaguid ?? '').replaceAll('-', '').padEnd(32, '0'), 'hex'),
        Buffer.from([rawId.length >> 8, rawId.length & 0xff]),
        rawId,
        coseKey(publicKey.export({ format: 'jwk' })),
      ])
      const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map<string, string>()],
        ['authData', new Uint8Array(data)],
      ])
      return credential(forgery.id ?? id, {
        clientDataJSON: clientData('webauthn.create', traits, challenge, forgery).toString(
          'base64url',
        ),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
        transports,
      })
    },

    /** The result of `navigator.credentials.get()`. */
    get({ challenge }: Request, forgery: Forgery = {}) {
      if (traits.counts) counter += 1
      const data = header(traits, forgery, 0, forgery.counter ?? counter)
      const json = clientData('webauthn.get', traits, challenge, forgery)
      const signed = Buffer.concat([data, createHash('sha256').update(json).digest()])
      const hash = traits.algorithm === 'EdDSA' ? undefined : 'sha256'
      return credential(forgery.id ?? id, {
        clientDataJSON: json.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign(hash, signed, forgery.privateKey ?? privateKey).toString('base64url'),
        userHandle: 'userHandle' in forgery ? forgery.userHandle : userHandle,
      })
    },
  }
}

function credential<Response extends object>(id: string, response: Response) {
  const type = 'public-key'
  return { id, rawId: id, type, response, clientExtensionResults: {} } as const
}

function clientData(type: string, traits: Traits, challenge: string, forgery: Forgery): Buffer {
  return Buffer.from(
    JSON.stringify({
      type: forgery.type ?? type,
      challenge: forgery.challenge ?? challenge,
      origin: forgery.origin ?? traits.origin,
      crossOrigin: false,
    }),
  )
}

/** The beginning of the authenticator data (§6.1). */
function header(traits: Traits, forgery: Forgery, flags: number, counter: number): Buffer {
  const { verifies, syncs } = traits
  const own =
    flags |
    flag.present |
    (verifies ? flag.verified : 0) |
    (syncs ? flag.eligible | flag.backedUp : 0)
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  const hash = createHash('sha256')
    .update(forgery.rpId ?? traits.rpId)
    .digest()
  return Buffer.concat([hash, Buffer.from([forgery.flags ?? own]), count])
}

function keyPair(algorithm: Algorithm) {
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  if (algorithm === 'RS256') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** RFC 9053 §7, RFC 8230 §4. */
function coseKey(key: JsonWebKey): Buffer {
  const bytes = (text = '') => new Uint8Array(Buffer.from(text, 'base64url'))
  const forms: Record<string, Record<number, number | Uint8Array>> = {
    EC: { 1: 2, 3: -7, [-1]: 1, [-2]: bytes(key.x), [-3]: bytes(key.y) },
    OKP: { 1: 1, 3: -8, [-1]: 6, [-2]: bytes(key.x) },
    RSA: { 1: 3, 3: -257, [-1]: bytes(key.n), [-2]: bytes(key.e) },
  }
  const parts = Object.entries(forms[key.kty ?? ''] ?? {})
  return Buffer.from(isoCBOR.encode(new Map(parts.map(([name, value]) => [Number(name), value]))))
}
