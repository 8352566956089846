/**
 * GOTRUE_JWT_KEYS as the self-hosting scripts write it: the signing key, and whether GOTRUE_JWT_SECRET is still
 * accepted.
 */
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomBytes } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import { decodeProtectedHeader } from 'jose'

import { call, getUser } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { autoconfirm, signUpUser } from '../../../support/users.ts'

const secret = randomBytes(32).toString('base64url')
const ec = {
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  alg: 'ES256',
  use: 'sig',
  kid: 'one',
  key_ops: ['sign', 'verify'],
  ext: true,
}
const oct = { kty: 'oct', k: Buffer.from(secret).toString('base64url'), alg: 'HS256' }

/** As the scripts create a service key. */
function serviceToken(header: object = {}) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 60
  const signed = `${part({ alg: 'HS256', typ: 'JWT', ...header })}.${part({ role: 'service_role', iss: 'supabase', exp })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

async function serverWith(t: TestContext, env: Record<string, string>) {
  const gotrue = { GOTRUE_JWT_SECRET: secret, AUTH_JWT_SECRET: '', AUTH_JWT_ALGORITHM: '' }
  const { app } = await build(t, { env: { ...autoconfirm, ...gotrue, ...env } })
  const session = await signUpUser(app)
  assert.equal((await getUser(app, session)).statusCode, 200)
  const asService = async (header?: object) =>
    (await call(app, '/admin/users', undefined, { token: serviceToken(header) })).statusCode
  return { alg: decodeProtectedHeader(session.access_token).alg, asService }
}

suite('GOTRUE_JWT_KEYS', () => {
  test('signs with the secret when the list is empty', async (t) => {
    const { alg, asService } = await serverWith(t, { GOTRUE_JWT_KEYS: '[]' })
    assert.equal(alg, 'HS256')
    assert.equal(await asService(), 200)
  })

  test('signs with the key pair and accepts a secret without id next to it', async (t) => {
    const { alg, asService } = await serverWith(t, { GOTRUE_JWT_KEYS: JSON.stringify([ec, oct]) })
    assert.equal(alg, 'ES256')
    assert.equal(await asService(), 200)
    assert.equal(await asService({ kid: 'of-another' }), 200)
    assert.equal(await asService({ kid: 'one' }), 403)
  })

  test('rejects tokens signed with the secret when only a key pair is listed', async (t) => {
    const { alg, asService } = await serverWith(t, { GOTRUE_JWT_KEYS: JSON.stringify([ec]) })
    assert.equal(alg, 'ES256')
    assert.equal(await asService(), 403)
  })

  test('accepts a retired secret when configured', async (t) => {
    const keys = { GOTRUE_JWT_KEYS: JSON.stringify([ec]) }
    const byMethods = await serverWith(t, { ...keys, GOTRUE_JWT_VALID_METHODS: 'ES256,HS256' })
    assert.equal(await byMethods.asService(), 200)
    const byName = await serverWith(t, { ...keys, AUTH_JWT_ACCEPT_SECRET: 'true' })
    assert.equal(await byName.asService(), 200)
  })
})
