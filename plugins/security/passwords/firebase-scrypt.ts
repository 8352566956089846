/**
 * Firebase's modified scrypt, for imported users: scrypt derives an AES-256-CTR key that encrypts the project's signer
 * key; the result is the hash. Verified only, never created.
 */
import { createCipheriv, scrypt, timingSafeEqual } from 'node:crypto'

interface FirebaseHash {
  memoryCost: number
  rounds: number
  parallelism: number
  saltSeparator: Buffer
  signerKey: Buffer
  salt: Buffer
  hash: Buffer
}

/** Reads `$fbscrypt$v=1,n=14,r=8,p=1,ss=..,sk=..$salt$hash`; undefined for anything else. */
export function parseFirebaseHash(stored: string): FirebaseHash | undefined {
  const parts = /^\$fbscrypt\$v=1,([^$]+)\$([^$]+)\$([^$]+)$/.exec(stored)
  const [, parameters, salt, hash] = parts ?? []
  if (!parameters || !salt || !hash) return undefined
  const values = new Map(
    parameters.split(',').map((pair): [string, string] => {
      const [name = '', ...rest] = pair.split('=')
      return [name, rest.join('=')]
    }),
  )
  const [memoryCost, rounds, parallelism] = ['n', 'r', 'p'].map((name) => Number(values.get(name)))
  if (!inRange(memoryCost, 20) || !inRange(rounds, 64) || !inRange(parallelism, 16)) {
    return undefined
  }
  return {
    memoryCost,
    rounds,
    parallelism,
    saltSeparator: Buffer.from(values.get('ss') ?? '', 'base64'),
    signerKey: Buffer.from(values.get('sk') ?? '', 'base64'),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}

function inRange(value: number | undefined, max: number): value is number {
  return value !== undefined && Number.isInteger(value) && value >= 1 && value <= max
}

export async function verifyFirebaseHash(parsed: FirebaseHash, password: string): Promise<boolean> {
  const salt = Buffer.concat([parsed.salt, parsed.saltSeparator])
  const key = await scryptKey(password, salt, parsed)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const computed = Buffer.concat([cipher.update(parsed.signerKey), cipher.final()])
  return computed.length === parsed.hash.length && timingSafeEqual(computed, parsed.hash)
}

function scryptKey(
  password: string,
  salt: Buffer,
  { memoryCost, rounds, parallelism }: FirebaseHash,
) {
  const N = 2 ** memoryCost
  const options = { N, r: rounds, p: parallelism, maxmem: 256 * N * rounds }
  return new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, 32, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
