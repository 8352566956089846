/** A security key in software: makes key pairs and signs like an authenticator (WebAuthn Level 3 §6), or not quite like one. */
import {
  createHash,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'

import { isoCBOR } from '@simplewebauthn/server/helpers'

import { rpId, rpOrigin } from './factors.ts'

/** What differs from an honest answer. */
export interface Deceit {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  counter?: number
  /** In the place of the credential's own. */
  id?: string
  userHandle?: string
  flags?: number
  key?: KeyObject
}

type CBORType = Parameters<typeof isoCBOR.encode>[0]

const userPresent = 0x01
const attestedData = 0x40

interface Options {
  challenge: string
}

export function newSecurityKey({ counts = true } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rawId = randomBytes(16)
  const id = rawId.toString('base64url')
  let counter = 0

  return {
    id,
    publicKey: coseKey(publicKey.export({ format: 'jwk' })),
    privateKey,

    /** The answer to `create`. */
    create({ challenge }: Options, deceit: Deceit = {}) {
      const data = Buffer.concat([
        header(deceit, attestedData | userPresent, 0),
        Buffer.alloc(16),
        Buffer.from([0, rawId.length]),
        rawId,
        coseKey(publicKey.export({ format: 'jwk' })),
      ])
      const attestation = new Map<string | number, CBORType>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', new Uint8Array(data)],
      ])
      const clientData = clientDataOf('webauthn.create', challenge, deceit)
      return credential(deceit.id ?? id, {
        clientDataJSON: clientData.toString('base64url'),
        attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
        transports: ['usb'],
      })
    },

    /** The answer to `request`. */
    get({ challenge }: Options, deceit: Deceit = {}) {
      if (counts) counter += 1
      const data = header(deceit, userPresent, deceit.counter ?? counter)
      const clientData = clientDataOf('webauthn.get', challenge, deceit)
      const signed = Buffer.concat([data, createHash('sha256').update(clientData).digest()])
      return credential(deceit.id ?? id, {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', signed, deceit.key ?? privateKey).toString('base64url'),
        ...(deceit.userHandle && { userHandle: deceit.userHandle }),
      })
    },
  }
}

function credential(id: string, response: object) {
  return { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} }
}

function clientDataOf(type: string, challenge: string, deceit: Deceit): Buffer {
  return Buffer.from(
    JSON.stringify({
      type: deceit.type ?? type,
      challenge: deceit.challenge ?? challenge,
      origin: deceit.origin ?? rpOrigin,
      crossOrigin: false,
    }),
  )
}

function header(deceit: Deceit, flags: number, counter: number): Buffer {
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  const hash = createHash('sha256')
    .update(deceit.rpId ?? rpId)
    .digest()
  return Buffer.concat([hash, Buffer.from([deceit.flags ?? flags]), count])
}

/** RFC 9053 §7.1: an EC2 key on P-256 for ES256. */
function coseKey({ x = '', y = '' }: JsonWebKey): Buffer {
  const key = new Map<string | number, CBORType>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
    [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
  ])
  return Buffer.from(isoCBOR.encode(key))
}
