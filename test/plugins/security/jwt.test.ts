import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'

import fc from 'fast-check'
import { CompactSign, calculateJwkThumbprint, EncryptJWT, exportSPKI, importJWK } from 'jose'

import { ApiError } from '../../../schemas/errors.ts'
import { testConfig } from '../../support/config.ts'
import { cloneDatabase, type TestDatabase } from '../../support/database.ts'
import { type KeyServer, startedKeyServer } from '../../support/signing-keys.ts'

const jwtSecret = testConfig().AUTH_JWT_SECRET
const userId = '0193f2c4-7a31-7000-8000-0123456789ab'
const claims = { sub: userId, role: 'authenticated' }
const hour = 3600

suite('JWT', () => {
  const { server, ending } = sharedServer()

  test('verifies tokens that it has signed', async () => {
    const { jwt } = server()
    const payload = { ...claims, iat: seconds(), exp: seconds() + hour, aal: 'aal1' as const }

    assert.deepEqual(await jwt.verify(await jwt.sign(payload)), payload)
  })

  test('accepts a token signed with AUTH_JWT_SECRET, with any kid', async () => {
    for (const header of [{}, { kid: 'of my own' }]) {
      const token = hs256({ role: 'service_role' }, jwtSecret, header)
      assert.deepEqual(await server().jwt.verify(token), { role: 'service_role' })
    }
  })

  test('AUTH_JWT_ACCEPT_SECRET=false rejects a token signed with AUTH_JWT_SECRET', async (t) => {
    const { url } = await cloneDatabase(t)
    const { jwt } = await startedKeyServer(t, url, { AUTH_JWT_ACCEPT_SECRET: 'false' })

    await rejected(jwt, hs256({ role: 'service_role' }, jwtSecret))
  })

  test('AUTH_JWT_VALID_METHODS limits accepted algorithms', async (t) => {
    const { url } = await cloneDatabase(t)
    const { jwt } = await startedKeyServer(t, url, { AUTH_JWT_VALID_METHODS: 'RS256' })

    await jwt.verify(await jwt.sign(claims))
    await rejected(jwt, hs256({ role: 'service_role' }, jwtSecret))
  })

  test('accepts a key with its own algorithm only', async (t) => {
    const { url } = await cloneDatabase(t)
    const env = { AUTH_JWT_VALID_METHODS: 'RS256,RS512,ES256' }
    const { jwt, keys } = await startedKeyServer(t, url, env)

    for (const alg of ['RS512', 'ES256']) {
      await rejected(jwt, foreignRsa({ alg, kid: keys.ring.signing.kid }))
    }
  })

  const attacks: Record<string, (server: KeyServer) => Promise<string> | string> = {
    'alg none': ({ keys }) => `${part({ alg: 'none', kid: keys.ring.signing.kid })}.${body()}.`,
    'alg None without kid': () => `${part({ alg: 'None' })}.${body()}.`,
    'alg none with a signature': async ({ jwt }) =>
      withHeader(await jwt.sign(claims), { alg: 'none' }),
    'the public key as an HMAC secret, PEM': async ({ keys }) =>
      hs256(claims, await publicPem(keys), { kid: keys.ring.signing.kid }),
    'the public key as an HMAC secret, PEM, no kid': async ({ keys }) =>
      hs256(claims, await publicPem(keys)),
    'the public key as an HMAC secret, JSON': ({ keys }) =>
      hs256(claims, JSON.stringify(shownKey(keys)), { kid: keys.ring.signing.kid }),
    'the modulus as an HMAC secret': ({ keys }) =>
      hs256(claims, Buffer.from(shownKey(keys).n ?? '', 'base64url')),
    'a known kid, HS256 with the correct secret': ({ keys }) =>
      hs256(claims, jwtSecret, { kid: keys.ring.signing.kid }),
    'a known kid, another RSA algorithm': ({ keys }) =>
      foreignRsa({ alg: 'RS512', kid: keys.ring.signing.kid }),
    'a known kid, PS256': ({ keys }) => foreignRsa({ alg: 'PS256', kid: keys.ring.signing.kid }),
    'a known kid, another key': ({ keys }) =>
      foreignRsa({ alg: 'RS256', kid: keys.ring.signing.kid }),
    'an embedded key in the header': foreignJwk,
    'a key URL in the header': ({ keys }) =>
      foreignRsa({ alg: 'RS256', kid: keys.ring.signing.kid, jku: 'https://evil.example/jwks' }),
    'an unknown kid': async ({ jwt }) =>
      withHeader(await jwt.sign(claims), { alg: 'RS256', kid: 'unknown' }),
    'no kid': async ({ jwt }) => withHeader(await jwt.sign(claims), { alg: 'RS256' }),
    'a kid named like an Object property': () => foreignRsa({ alg: 'RS256', kid: '__proto__' }),
    'a kid that is not a string': () => foreignRsa({ alg: 'RS256', kid: { toString: 1 } }),
    'another secret': () => hs256(claims, 'x'.repeat(32)),
    'an empty secret': () => hs256(claims, ''),
    'a critical extension': ({ keys }) =>
      foreignRsa({ alg: 'RS256', kid: keys.ring.signing.kid, crit: ['exp'] }),
    'an unencoded payload': () => hs256(claims, jwtSecret, { b64: false, crit: ['b64'] }),
    'an expired token': () => hs256({ ...claims, exp: seconds() - 6 }, jwtSecret),
    'a token that is not valid yet': () => hs256({ ...claims, nbf: seconds() + 60 }, jwtSecret),
    'exp as string': () => hs256({ ...claims, exp: `${seconds() + hour}` }, jwtSecret),
    'exp null': () => hs256({ ...claims, exp: null }, jwtSecret),
    'nbf as string': () => hs256({ ...claims, nbf: 'now' }, jwtSecret),
    'sub as a number': () => hs256({ sub: 7 }, jwtSecret),
    'sub as array': () => hs256({ sub: [userId] }, jwtSecret),
    'role as array': () => hs256({ role: ['service_role'] }, jwtSecret),
    'aal as a number': () => hs256({ ...claims, aal: 2 }, jwtSecret),
    'a token of 100 kB': () =>
      hs256({ ...claims, user_metadata: { blob: 'x'.repeat(100_000) } }, jwtSecret),
    'an array as payload': () => hs256([claims], jwtSecret),
    'a token as payload': ({ jwt }) => jwt.sign(claims).then((inner) => hs256(inner, jwtSecret)),
    'a payload that is not JSON': () => hmac(`${part({ alg: 'HS256' })}.${base64('{')}`),
    'excessive nesting': () => hmac(`${part({ alg: 'HS256' })}.${base64('['.repeat(8_000))}`),
    'an encrypted token': () => encryptedToken(),
    'a truncated token': async ({ jwt }) => (await jwt.sign(claims)).slice(0, -10),
    'a token without a signature': async ({ jwt }) =>
      (await jwt.sign(claims)).replace(/[^.]*$/, ''),
    'another payload with the signature': async ({ jwt }) => {
      const [header, , signature] = (await jwt.sign(claims)).split('.')
      return `${header}.${part({ ...claims, role: 'service_role' })}.${signature}`
    },
    'a fourth part': async ({ jwt }) => `${await jwt.sign(claims)}.e30`,
    'a line break': async ({ jwt }) => (await jwt.sign(claims)).replace('.', '.\n'),
    'base64 padding': () => hs256(claims, jwtSecret).replace('.', '==.'),
    'dots only': () => '..',
    'an empty token': () => '',
  }
  for (const [attack, make] of Object.entries(attacks)) {
    test(`returns bad_jwt for ${attack}`, async () => {
      await rejected(server().jwt, await make(server()))
    })
  }

  test('tolerates a clock skew of five seconds', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { jwt } = server()
    const token = hs256({ ...claims, nbf: seconds() + 5, exp: seconds() + 10 }, jwtSecret)

    await jwt.verify(token)
    t.mock.timers.setTime(Date.now() + 14_000)
    await jwt.verify(token)
    t.mock.timers.setTime(Date.now() + 1_000)
    await rejected(jwt, token)
  })

  test('rejects an expired token that is cached', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { jwt } = server()
    const token = await jwt.sign({ ...claims, exp: seconds() + 60 })
    await jwt.verify(token)
    await jwt.verify(token)

    t.mock.timers.setTime(Date.now() + 66_000)

    await rejected(jwt, token)
  })

  test('freezes claims of a cached token', async () => {
    const { jwt } = server()
    const verified = await jwt.verify(await jwt.sign(claims))

    assert.throws(() => Object.assign(verified, { role: 'service_role' }), TypeError)
  })

  test('rejects random text with bad_jwt', async () => {
    const { jwt } = server()
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), (text) =>
        rejected(jwt, text),
      ),
      { numRuns: 2_000 },
    )
  })

  test('rejects three parts of random JSON with bad_jwt', async () => {
    const { jwt } = server()
    const header = fc.oneof(
      fc.json(),
      fc.record({ alg: fc.constantFrom('RS256', 'HS256', 'none', 'ES256'), kid: fc.anything() }),
    )
    const signature = fc.uint8Array({ maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(header, fc.json(), signature, (head, payload, bytes) =>
        rejected(
          jwt,
          [typeof head === 'string' ? head : safeJson(head), payload, Buffer.from(bytes)]
            .map(base64)
            .join('.'),
        ),
      ),
      { numRuns: 2_000 },
    )
  })

  test('rejects a token with any changed character or returns the same claims', async () => {
    const { jwt } = server()
    const token = await jwt.sign({ ...claims, exp: seconds() + hour })
    const place = fc.nat({ max: token.length - 1 })
    await fc.assert(
      fc.asyncProperty(place, fc.string({ minLength: 1, maxLength: 1 }), async (at, character) => {
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        const result = await jwt.verify(changed).catch((error: unknown) => error)
        if (result instanceof ApiError) assert.equal(result.errorCode, 'bad_jwt')
        else assert.deepEqual(result, await jwt.verify(token))
      }),
      { numRuns: 2_000 },
    )
  })

  test('verifies or rejects random signed claims with bad_jwt', async () => {
    const { jwt } = server()
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (payload) => {
        const result = await jwt.verify(hs256(payload, jwtSecret)).catch((error: unknown) => error)
        if (result instanceof Error) assert.ok(isBadJwt(result), String(result))
        else assert.deepEqual(result, JSON.parse(JSON.stringify(payload)))
      }),
      { numRuns: 2_000 },
    )
  })

  after(ending)
})

/** One server for the whole suite: no test changes its keys. */
function sharedServer() {
  const endings: (() => Promise<void>)[] = []
  let database: TestDatabase | undefined
  let started: KeyServer | undefined
  before(async () => {
    database = await cloneDatabase()
    started = await startedKeyServer({ after: (end) => endings.push(end) }, database.url)
  })
  return {
    server(): KeyServer {
      assert.ok(started)
      return started
    },
    async ending() {
      for (const end of endings) await end()
      await database?.drop()
    },
  }
}

async function rejected(jwt: KeyServer['jwt'], token: string): Promise<void> {
  const error = await jwt.verify(token).then(
    () => assert.fail('the token was accepted'),
    (thrown: unknown) => thrown,
  )
  assert.ok(isBadJwt(error), String(error))
}

function isBadJwt(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    error.status === 403 &&
    error.errorCode === 'bad_jwt' &&
    error.message.startsWith('invalid JWT: unable to parse or verify signature, ')
  )
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

function base64(value: string | Buffer): string {
  return Buffer.from(value).toString('base64url')
}

function part(value: unknown): string {
  return base64(JSON.stringify(value))
}

function body(): string {
  return part(claims)
}

/** Random values contain what JSON cannot; those headers are empty. */
function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch {
    return '{}'
  }
}

function hs256(payload: unknown, secret: string | Buffer, header: object = {}): string {
  return hmac(`${part({ alg: 'HS256', typ: 'JWT', ...header })}.${part(payload)}`, secret)
}

function hmac(signed: string, secret: string | Buffer = jwtSecret): string {
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function withHeader(token: string, header: object): string {
  return token.replace(/^[^.]*/, part(header))
}

function shownKey(keys: KeyServer['keys']) {
  const [key] = keys.ring.publicKeys(new Date()).keys
  assert.ok(key)
  return key
}

async function publicPem(keys: KeyServer['keys']): Promise<string> {
  const key = await importJWK({ ...shownKey(keys) }, 'RS256', { extractable: true })
  assert.ok(!(key instanceof Uint8Array))
  return exportSPKI(key)
}

const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 })

function foreignRsa(header: object): string {
  const signed = `${part(header)}.${body()}`
  return `${signed}.${signBytes('sha256', Buffer.from(signed), attacker.privateKey).toString('base64url')}`
}

async function foreignJwk(): Promise<string> {
  const jwk = attacker.publicKey.export({ format: 'jwk' })
  const { kty = '', n = '', e = '' } = jwk
  const kid = await calculateJwkThumbprint({ kty, n, e })
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'RS256', kid, jwk: { kty, n, e } })
    .sign(attacker.privateKey)
}

function encryptedToken(): Promise<string> {
  return new EncryptJWT(claims)
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(Buffer.from(jwtSecret).subarray(0, 32))
}
