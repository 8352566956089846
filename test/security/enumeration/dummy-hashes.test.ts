/** The time of a wrong password does not reveal whether the email has an account, whatever hashes were imported. */
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { suite, test } from 'node:test'

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

/** Every form that an import may bring. */
const forms: Record<string, string | Promise<string>> = {
  argon2id: hashArgon2id('right', argon),
  bcrypt: bcrypt('right', 4),
  'bcrypt of Django': bcrypt('right', 4).then((hash) => `bcrypt_sha256$${hash}`),
  'pbkdf2 of Django': `pbkdf2_sha256$1000$saltsalt$${digest}`,
  'pbkdf2 of passlib': `$pbkdf2-sha256$1000$${salt}$${digest.replace('=', '')}`,
  'ASP.NET Identity':
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
  'scrypt of passlib': `$scrypt$ln=10,r=8,p=1$${salt}$${digest.replace('=', '')}`,
  'scrypt of Django': `scrypt$1024$saltsalt$8$1$${digest}`,
  'scrypt of Werkzeug': `scrypt:1024:8:1$saltsalt$${'c0ffee00'.repeat(8)}`,
  'salted SHA of LDAP': '{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3',
  'SHA-512 of crypt(3)': `$6$rounds=1000$saltsalt$${'abcdefgh/.'.repeat(9).slice(4)}`,
  firebase: `$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$${salt}==$${digest}`,
}

suite('dummy password hashes', () => {
  test('take as long as an imported hash', async (t) => {
    const { app } = await build(t)
    const known = await Promise.all(Array.from({ length: 9 }, () => importedUser(app)))
    await app.passwords.renewDummies()
    const unknown = known.map(() => newAddress())
    const [slow, dummy] = [await measureCpu(app, known), await measureCpu(app, unknown)]
    // An argon2id hash of our own would take a tenth.
    assert.ok(dummy > slow * 0.4 && dummy < slow * 2.5, `${dummy} ms beside ${slow} ms`)
  })

  test('follow the distribution of stored algorithms and are stable per email', async () => {
    const [imported, own] = [await bcrypt('right', 4), await hashArgon2id('right', argon)]
    const dummies = await createDummies([imported, imported, imported, own])
    const addresses = Array.from({ length: 2000 }, newAddress)
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

  for (const [name, form] of Object.entries(forms)) {
    test(`${name}: costs as much as the hash and contains neither salt nor digest`, async () => {
      const stored = await form
      assert.ok(isSupportedHash(stored))
      const dummy = (await createDummies([stored])).dummyFor('a')
      assert.ok(isSupportedHash(dummy), dummy)
      assert.equal(dummy.length, stored.length)
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

async function importedUser(app: App): Promise<string> {
  const email = newAddress()
  const password_hash = await bcrypt('right', 9)
  await adminCreatedUser(app, { email, email_confirm: true, password_hash })
  return email
}

/** Processor time of the whole process, in milliseconds: a busy machine changes little in it. */
async function measureCpu(app: App, addresses: string[]): Promise<number> {
  const before = process.cpuUsage()
  for (const email of addresses) {
    const response = await signIn(app, { email, password: 'wrong' })
    assert.deepEqual(statusAndCode(response), [400, 'invalid_credentials'])
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
