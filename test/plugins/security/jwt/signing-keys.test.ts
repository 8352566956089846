import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'

import { decodeProtectedHeader, exportJWK, generateKeyPair, type JWK } from 'jose'

import { listSigningKeys } from '../../../../db/keys/signing-keys.ts'
import { query } from '../../../db/sql.ts'
import { sharedDatabase } from '../../../support/processes/shared-database.ts'
import { type KeyServer, keyServer, startedKeyServer } from '../../../support/signing-keys.ts'

const minutes = (count: number) => count * 60_000
/** Elliptic curve keys are generated at once; RSA keys take a tenth of a second. */
const quick = { AUTH_JWT_ALGORITHM: 'ES256' }
const getKid = (token: string) => decodeProtectedHeader(token).kid
const claims = { sub: crypto.randomUUID(), role: 'authenticated' }

suite('signing keys', () => {
  const database = sharedDatabase()
  /** Its address: the tests run one after the other, and each starts without keys. */
  async function withoutKeys(): Promise<string> {
    const { url } = await database()
    await query(url, 'delete from auth.postern_signing_keys')
    return url
  }

  async function start(t: TestContext, env: Record<string, string> = {}): Promise<KeyServer> {
    return startedKeyServer(t, await withoutKeys(), { ...quick, ...env })
  }

  test('servers that start concurrently on an empty database create one key', async (t) => {
    const url = await withoutKeys()
    const servers = [keyServer(t, url), keyServer(t, url), keyServer(t, url)]

    await Promise.all(servers.map(({ keys }) => keys.sync(new Date())))

    const kids = servers.map(({ keys }) => keys.ring.signing.kid)
    assert.equal(new Set(kids).size, 1)
    assert.equal((await listSigningKeys(first(servers).db)).length, 1)
  })

  for (const alg of ['RS256', 'ES256', 'EdDSA']) {
    test(`creates the first key for ${alg} when configured`, async (t) => {
      const { keys, jwt } = await start(t, { AUTH_JWT_ALGORITHM: alg })

      const header = decodeProtectedHeader(await jwt.sign(claims))

      const [shown] = keys.ring.publicKeys(new Date()).keys
      assert.deepEqual(header, { alg, typ: 'JWT', kid: shown?.kid })
    })
  }

  test('stores private keys encrypted', async (t) => {
    const { db, keys } = await start(t, { AUTH_JWT_ALGORITHM: 'ES256' })
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), kid: 'known' }
    await keys.importKey(jwk, {}, new Date())

    const rows = await listSigningKeys(db)

    const stored = rows.find(({ kid }) => kid === 'known')
    assert.ok(stored && jwk.d)
    assert.ok(!JSON.stringify(rows).includes(jwk.d))
    assert.deepEqual(Object.keys(JSON.parse(stored.private_jwk)).toSorted(), [
      'alg',
      'data',
      'key_id',
      'nonce',
    ])
    assert.ok(rows.every(({ public_jwk }) => !('d' in public_jwk)))
  })

  test('rejects the start when a key has an unknown encryption key', async (t) => {
    const url = await withoutKeys()
    await startedKeyServer(t, url)
    const attacker = keyServer(t, url, { AUTH_JWT_SECRET: 'another secret, again with 32 bytes' })

    await assert.rejects(attacker.keys.sync(new Date()), /AUTH_ENCRYPTION_KEY/)
  })

  test('moves a key from standby to current, previous and removed', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { keys, jwt } = await start(t, { AUTH_JWT_EXP: '3600' })
    const old = keys.ring.signing.kid
    const oldToken = await jwt.sign({ ...claims, exp: seconds() + 3600 })
    const forged = await jwt.sign({ ...claims, exp: seconds() + 36_000 })

    t.mock.timers.setTime(Date.now() + 1_000)
    const fresh = await keys.rotate('ES256', {}, new Date())
    assert.deepEqual(shownIds(keys), [old, fresh], 'both are shown')
    assert.equal(getKid(await jwt.sign(claims)), old, 'the old one signs')

    t.mock.timers.setTime(Date.now() + minutes(11))
    await keys.sync(new Date())
    assert.equal(getKid(await jwt.sign(claims)), old, 'not before every cache has expired')

    t.mock.timers.setTime(Date.now() + minutes(5))
    await keys.sync(new Date())
    assert.equal(getKid(await jwt.sign(claims)), fresh, 'the new one signs')
    assert.equal((await jwt.verify(oldToken)).sub, claims.sub, 'the old one verifies')
    assert.deepEqual(shownIds(keys), [old, fresh])

    t.mock.timers.setTime(Date.now() + minutes(62))
    assert.deepEqual(shownIds(keys), [fresh], 'after its last token it is gone')
    await assert.rejects(jwt.verify(oldToken), { errorCode: 'bad_jwt' })
    await assert.rejects(jwt.verify(forged), { errorCode: 'bad_jwt' }, 'whenever its tokens end')
  })

  test('deletes the private part of a demoted key', async (t) => {
    const { db, keys } = await start(t)
    const old = keys.ring.signing.kid
    await keys.rotate('ES256', { activateAfter: 0 }, new Date())

    const rows = await listSigningKeys(db)

    const states = rows.map(({ kid, state, private_jwk }) => [kid, state, private_jwk !== ''])
    assert.deepEqual(states, [
      [old, 'previous', false],
      [keys.ring.signing.kid, 'current', true],
    ])
  })

  test('replicas that promote concurrently promote once', async (t) => {
    const url = await withoutKeys()
    const servers = await startSeveral(t, url, 3)
    const { keys, db } = first(servers)
    const fresh = await keys.rotate('ES256', {}, new Date())
    const later = new Date(Date.now() + minutes(16))

    await Promise.all(servers.map((server) => server.keys.sync(later)))

    assert.deepEqual(
      (await listSigningKeys(db)).map(({ state }) => state),
      ['previous', 'current'],
    )
    assert.ok(servers.every((server) => server.keys.ring.signing.kid === fresh))
  })

  test('rejects a second rotation while a key is on standby', async (t) => {
    const { keys } = await start(t)
    await keys.rotate('ES256', {}, new Date())

    await assert.rejects(keys.rotate('ES256', {}, new Date()), { status: 422 })
  })

  test('keeps the key of a token valid for ten years', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { keys, jwt } = await start(t)
    const tenYears = 10 * 365 * 86_400
    const token = await jwt.signApiToken({ role: 'service_role', seconds: tenYears }, new Date())
    await jwt.signApiToken({ role: 'anon', seconds: 60 }, new Date())
    await keys.rotate('ES256', { activateAfter: 0 }, new Date())

    t.mock.timers.setTime(Date.now() + minutes(60 * 24 * 365))
    await keys.sync(new Date())

    assert.notEqual(getKid(token), keys.ring.signing.kid)
    assert.equal((await jwt.verify(token)).role, 'service_role')
  })

  test('keeps keys with a shorter-lived token for their normal lifetime', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { keys, jwt } = await start(t)
    await jwt.signApiToken({ role: 'service_role', seconds: 60 }, new Date())

    t.mock.timers.setTime(Date.now() + minutes(2))
    await keys.sync(new Date())

    assert.equal((await jwt.verify(await jwt.sign(claims))).sub, claims.sub)
    assert.deepEqual(shownIds(keys), [keys.ring.signing.kid])
  })

  test('accepts tokens of a replica that has not seen the rotation', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const url = await withoutKeys()
    const [one, late] = await startSeveral(t, url, 2)
    assert.ok(one && late)
    await one.keys.rotate('ES256', { activateAfter: 0 }, new Date())
    t.mock.timers.setTime(Date.now() + 59_000)
    const session = await late.jwt.sign({ ...claims, exp: seconds() + 3600 })
    const service = { role: 'service_role', seconds: 7200 }

    t.mock.timers.setTime(Date.now() + 3_599_000)
    assert.equal((await one.jwt.verify(session)).sub, claims.sub)
    const token = await late.jwt.signApiToken(service, new Date())
    await one.keys.sync(new Date())

    t.mock.timers.setTime(Date.now() + 7_204_000)
    assert.equal((await one.jwt.verify(token)).role, 'service_role', 'as late as clocks may differ')
  })

  test('looks up unknown key ids once a second', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { keys } = await start(t)
    const look = () => keys.reload(new Date())
    const first = look()

    t.mock.timers.setTime(Date.now() + 999)
    assert.equal(look(), first)
    t.mock.timers.setTime(Date.now() + 1)
    assert.notEqual(look(), first)
  })

  test('rejects tokens of a revoked key on each replica and signs with another', async (t) => {
    const url = await withoutKeys()
    const [one, two] = await startSeveral(t, url, 2)
    assert.ok(one && two)
    const token = await one.jwt.sign(claims)
    const kid = getKid(token) ?? ''
    await two.jwt.verify(token)

    await one.keys.revoke(kid, {}, new Date())
    await two.keys.sync(new Date())

    await assert.rejects(one.jwt.verify(token), { errorCode: 'bad_jwt' })
    await assert.rejects(two.jwt.verify(token), { errorCode: 'bad_jwt' })
    const next = await one.jwt.sign(claims)
    assert.notEqual(getKid(next), kid)
    assert.equal((await two.jwt.verify(next)).sub, claims.sub)
    assert.ok(!shownIds(two.keys).includes(kid))
  })

  test('promotes the standby key when the current one is revoked', async (t) => {
    const { keys } = await start(t)
    const standby = await keys.rotate('ES256', {}, new Date())
    const now = new Date()

    await keys.revoke(keys.ring.signing.kid ?? '', {}, now)

    assert.equal(keys.ring.signing.kid, standby)
    const promoted = (await keys.list()).find(({ kid }) => kid === standby)
    assert.equal(promoted?.activates_at?.getTime(), now.getTime())
  })

  test('rejects importing a revoked key', async (t) => {
    const { keys } = await start(t)
    const jwk = await pair('ES256')
    const kid = await keys.importKey(jwk, {}, new Date())
    await keys.revoke(kid, {}, new Date())

    await assert.rejects(keys.importKey(jwk, {}, new Date()), { status: 422 })

    assert.ok(!shownIds(keys).includes(kid))
  })

  test('rejects revoking an unknown or revoked key', async (t) => {
    const { keys, db } = await start(t)
    const kid = await keys.rotate(undefined, {}, new Date())
    await keys.revoke(kid, {}, new Date())

    const stored = db
      .selectFrom('postern_signing_keys')
      .select('private_jwk')
      .where('kid', '=', kid)
    assert.equal((await stored.executeTakeFirstOrThrow()).private_jwk, '')
    await assert.rejects(keys.revoke(kid, {}, new Date()), { status: 404 })
    await assert.rejects(keys.revoke('unknown', {}, new Date()), { status: 404 })
  })

  test('follows changes by notification on a replica', async (t) => {
    const url = await withoutKeys()
    const [one, two] = await startSeveral(t, url, 2)
    assert.ok(one && two)
    t.mock.timers.enable({ apis: ['setInterval'] })
    two.keys.follow()
    await listening(url)
    const changed = new Promise<void>((resolve) => two.keys.onChange(resolve))

    const fresh = await one.keys.rotate('ES256', {}, new Date())

    await changed
    assert.ok(shownIds(two.keys).includes(fresh))
  })

  test('accepts a token of a key just created by another replica', async (t) => {
    const url = await withoutKeys()
    const [one, two] = await startSeveral(t, url, 2)
    assert.ok(one && two)
    await one.keys.rotate('ES256', { activateAfter: 0 }, new Date())

    const token = await one.jwt.sign(claims)

    assert.equal((await two.jwt.verify(token)).sub, claims.sub)
  })

  const badKeys: Record<string, () => Promise<JWK> | JWK> = {
    'a public key': async () => exportJWK((await generateKeyPair('ES256')).publicKey),
    'a shared secret': () => ({ kty: 'oct', k: 'x'.repeat(64) }),
    'halves of two pairs': async () => {
      const [one, two] = await Promise.all([pair('ES256'), pair('ES256')])
      return { ...one, x: `${two.x}`, y: `${two.y}` }
    },
    'an RSA key with the exponent of another': async () => ({
      ...(await pair('RS256')),
      e: 'Aw',
    }),
    'an algorithm that does not match': async () => ({ ...(await pair('ES256')), alg: 'RS256' }),
    'the algorithm none': async () => ({ ...(await pair('ES256')), alg: 'none' }),
    'an unknown key type': () => ({ kty: 'quantum' }),
    'an unknown curve': async () => pair('ES384'),
  }
  for (const [invalid, make] of Object.entries(badKeys)) {
    test(`rejects the import of ${invalid}`, async (t) => {
      const { keys, db } = await start(t)
      const jwk = await make()

      await assert.rejects(keys.importKey(jwk, {}, new Date()), { status: 422 })

      assert.equal((await listSigningKeys(db)).length, 1)
    })
  }
})

async function startSeveral(t: TestContext, url: string, count: number): Promise<KeyServer[]> {
  const servers = Array.from({ length: count }, () => keyServer(t, url, quick))
  for (const { keys } of servers) await keys.sync(new Date())
  return servers
}

/** A user has subscribed to notifications. */
async function listening(url: string): Promise<void> {
  const subscribed = `select 1 from pg_stat_activity
    where datname = current_database() and query ilike 'listen%' and state = 'idle'`
  while ((await query(url, subscribed)).length === 0) await delay(20)
}

function first<T>([value]: T[]): T {
  assert.ok(value)
  return value
}

function shownIds(keys: KeyServer['keys']): unknown[] {
  return keys.ring.publicKeys(new Date()).keys.map(({ kid }) => kid)
}

function seconds(): number {
  return Math.floor(Date.now() / 1000)
}

async function pair(alg: string): Promise<JWK> {
  return exportJWK((await generateKeyPair(alg, { extractable: true })).privateKey)
}
