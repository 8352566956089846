/**
 * The time of a wrong password does not reveal whether the email has an account, whatever hashes were imported: an
 * unknown one is verified by the same algorithm with the same parameters. `npm run bench -- enumeration` measures it.
 */
import assert from 'node:assert/strict'
import crypto, { createSecretKey } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { suite, type TestContext, test } from 'node:test'

import { hash as bcrypt } from '@node-rs/bcrypt'
import pino from 'pino'

import { blanked, createDummyHashes } from '../../../plugins/security/passwords/dummy-hashes.ts'
import {
  hashArgon2id,
  isSupportedHash,
  verifyHash,
} from '../../../plugins/security/passwords/hashes.ts'
import { statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import { adminCreatedUser, newAddress, signIn } from '../../support/users.ts'

const argon = { memoryCost: 8192, timeCost: 1, parallelism: 1 }
const salt = 'c2FsdHNhbHRzYWx0c2FsdA'
const digest = 'aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g='

/** Every form that an import may bring, and what a dummy keeps of it: the algorithm and its parameters. */
const forms: Record<string, [hash: string | Promise<string>, kept: string]> = {
  argon2id: [hashArgon2id('right', argon), '$argon2id$v=19$m=8192,t=1,p=1$'],
  bcrypt: [bcrypt('right', 4), '$2b$04$'],
  'bcrypt of Django': [
    bcrypt('right', 4).then((hash) => `bcrypt_sha256$${hash}`),
    'bcrypt_sha256$$2b$04$',
  ],
  'pbkdf2 of Django': [`pbkdf2_sha256$1000$saltsalt$${digest}`, 'pbkdf2_sha256$1000$'],
  'pbkdf2 of passlib': [
    `$pbkdf2-sha256$1000$${salt}$${digest.replace('=', '')}`,
    '$pbkdf2-sha256$1000$',
  ],
  'ASP.NET Identity': [
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
    'AQAAAAEAACcQAAAAE',
  ],
  'scrypt of passlib': [
    `$scrypt$ln=10,r=8,p=1$${salt}$${digest.replace('=', '')}`,
    '$scrypt$ln=10,r=8,p=1$',
  ],
  'scrypt of Django': [`scrypt$1024$saltsalt$8$1$${digest}`, 'scrypt$1024$AAAAAAAA$8$1$'],
  'scrypt of Werkzeug': [`scrypt:1024:8:1$saltsalt$${'c0ffee00'.repeat(8)}`, 'scrypt:1024:8:1$'],
  'salted SHA of LDAP': ['{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3', '{SSHA}'],
  'SHA-512 of crypt(3)': [
    `$6$rounds=1000$saltsalt$${'abcdefgh/.'.repeat(9).slice(4)}`,
    '$6$rounds=1000$',
  ],
  firebase: [
    `$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$${salt}==$${digest}`,
    '$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$',
  ],
}

suite('dummy password hashes', () => {
  test('are verified with the parameters of an imported hash', async (t) => {
    const { app } = await build(t)
    const known = newAddress()
    const password_hash = `pbkdf2_sha256$1200$saltsalt$${digest}`
    await adminCreatedUser(app, { email: known, email_confirm: true, password_hash })
    const derived = observeDerivation(t)
    assert.deepEqual(await derived(app, newAddress()), [])
    await app.passwords.renewDummies()
    const expected = [{ password: 'wrong', salt: 8, iterations: 1200, length: 32, name: 'sha256' }]
    assert.deepEqual(await derived(app, known), expected)
    assert.deepEqual(await derived(app, newAddress()), expected)
  })

  test('follow the distribution of stored algorithms and are stable per email', async () => {
    const [imported, own] = [await bcrypt('right', 4), await hashArgon2id('right', argon)]
    const dummies = await createDummies([imported, imported, imported, own])
    const addresses = Array.from({ length: 2000 }, (_, n) => `user${n}@example.com`)
    const kinds = addresses.map(dummies.dummyFor)
    const share = kinds.filter((dummy) => dummy.startsWith('$2')).length / kinds.length
    assert.ok(Math.abs(share - 0.75) < 0.05, String(share))
    assert.deepEqual(addresses.map(dummies.dummyFor), kinds)
    const other = await createDummies(
      [imported, imported, imported, own],
      createSecretKey(Buffer.alloc(32, 1)),
    )
    assert.notDeepEqual(addresses.map(other.dummyFor), kinds)
  })

  test('use the current algorithm when no hash is stored or the query fails', async () => {
    const own = blanked(await hashArgon2id('right', argon))
    assert.equal((await createDummies([])).dummyFor('a'), own)
    assert.equal((await createDummies(['no hash at all'])).dummyFor('a'), own)
    const failing = createDummyHashes({
      ...options,
      sample: () => Promise.reject(new Error('gone')),
    })
    await failing.renew()
    assert.equal(failing.dummyFor('a'), own)
  })

  test('are sampled again after a minute at any request rate', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const sample = t.mock.fn(async (): Promise<string[]> => [])
    const dummies = createDummyHashes({ ...options, sample })
    for (const [after, count] of [
      [0, 1],
      [59_999, 1],
      [1, 2],
      [0, 2],
    ] as const) {
      t.mock.timers.tick(after)
      dummies.renewWhenOld()
      assert.equal(sample.mock.callCount(), count)
    }
  })

  for (const [name, [form, kept]] of Object.entries(forms)) {
    test(`${name}: costs as much as the hash and contains neither salt nor digest`, async () => {
      const stored = await form
      assert.ok(isSupportedHash(stored))
      const dummy = (await createDummies([stored])).dummyFor('a')
      assert.ok(isSupportedHash(dummy), dummy)
      assert.equal(dummy.length, stored.length)
      assert.ok(dummy.startsWith(kept), dummy)
      const secret = stored.slice(-20).replaceAll('=', '')
      assert.ok(!dummy.includes(secret), dummy)
      assert.equal(await verifyHash(dummy, 'right'), false)
    })
  }
})

const options = { key: createSecretKey(Buffer.alloc(32)), argon, log: pino({ level: 'silent' }) }

async function createDummies(hashes: string[], key = options.key) {
  const dummies = createDummyHashes({ ...options, key, sample: async () => hashes })
  await dummies.renew()
  return dummies
}

/** Returns a function that signs in with a wrong password and returns the keys that PBKDF2 derived for it. */
function observeDerivation(t: TestContext) {
  const { mock } = t.mock.method(crypto, 'pbkdf2')
  syncBuiltinESMExports()
  t.after(() => {
    mock.restore()
    syncBuiltinESMExports()
  })
  return async (app: App, email: string) => {
    mock.resetCalls()
    const response = await signIn(app, { email, password: 'wrong' })
    assert.deepEqual(statusAndCode(response), [400, 'invalid_credentials'])
    return mock.calls.map(({ arguments: [password, salt, iterations, length, name] }) => ({
      password,
      salt: Buffer.from(String(salt)).length,
      iterations,
      length,
      name,
    }))
  }
}
