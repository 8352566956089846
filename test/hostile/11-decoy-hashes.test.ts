/** How long a wrong password takes must not say whether anybody has the address, whatever hashes were imported. */
import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { suite, test } from 'node:test'

import { hash as bcrypt } from '@node-rs/bcrypt'
import pino from 'pino'

import { blanked, createDecoys } from '../../plugins/passwords/decoys.ts'
import { hashArgon2id, isSupportedHash, verifyHash } from '../../plugins/passwords/hashes.ts'
import { createdPerson, newAddress, signIn } from '../support/people.ts'
import { outcomeOf } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'

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
  firebase: `$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$${salt}==$${digest}`,
}

suite('decoys', () => {
  test('a wrong password is as much work for nobody as for somebody with an imported hash', async (t) => {
    const { app } = await build(t)
    const known = await Promise.all(Array.from({ length: 9 }, () => importedPerson(app)))
    await app.passwords.renewDecoys()
    const unknown = known.map(() => newAddress())
    const [slow, decoy] = [await workOf(app, known), await workOf(app, unknown)]
    // One of our own hashes would take a tenth.
    assert.ok(decoy > slow * 0.4 && decoy < slow * 2.5, `${decoy} ms beside ${slow} ms`)
  })

  test('are of each kind as often as it is stored, and the same for an address every time', async () => {
    const [imported, own] = [await bcrypt('right', 4), await hashArgon2id('right', argon)]
    const decoys = await decoysOf([imported, imported, imported, own])
    const addresses = Array.from({ length: 2000 }, newAddress)
    const kinds = addresses.map(decoys.decoyFor)
    const share = kinds.filter((decoy) => decoy.startsWith('$2')).length / kinds.length
    assert.ok(Math.abs(share - 0.75) < 0.05, String(share))
    assert.deepEqual(addresses.map(decoys.decoyFor), kinds)
    const other = await decoysOf(
      [imported, imported, imported, own],
      createSecretKey(Buffer.alloc(32, 1)),
    )
    assert.notDeepEqual(addresses.map(other.decoyFor), kinds)
  })

  test('are of today’s kind where nobody has a password, and where nothing can be looked up', async () => {
    const own = blanked(await hashArgon2id('right', argon))
    assert.equal((await decoysOf([])).decoyFor('a'), own)
    assert.equal((await decoysOf(['no hash at all'])).decoyFor('a'), own)
    const failing = createDecoys({ ...options, sample: () => Promise.reject(new Error('gone')) })
    await failing.renew()
    assert.equal(failing.decoyFor('a'), own)
  })

  test('are looked up again once a minute has passed, however often they are asked for', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const sample = t.mock.fn(async (): Promise<string[]> => [])
    const decoys = createDecoys({ ...options, sample })
    for (const [after, count] of [
      [0, 1],
      [59_999, 1],
      [1, 2],
      [0, 2],
    ] as const) {
      t.mock.timers.tick(after)
      decoys.renewWhenOld()
      assert.equal(sample.mock.callCount(), count)
    }
  })

  for (const [name, form] of Object.entries(forms)) {
    test(`${name}: as costly as the hash, without its salt and digest, and nothing matches`, async () => {
      const stored = await form
      assert.ok(isSupportedHash(stored))
      const decoy = (await decoysOf([stored])).decoyFor('a')
      assert.ok(isSupportedHash(decoy), decoy)
      assert.equal(decoy.length, stored.length)
      const secret = stored.slice(-20).replaceAll('=', '')
      assert.ok(!decoy.includes(secret), decoy)
      assert.equal(await verifyHash(decoy, 'right'), false)
    })
  }
})

const options = { key: createSecretKey(Buffer.alloc(32)), argon, log: pino({ level: 'silent' }) }

async function decoysOf(hashes: string[], key = options.key) {
  const decoys = createDecoys({ ...options, key, sample: async () => hashes })
  await decoys.renew()
  return decoys
}

async function importedPerson(app: App): Promise<string> {
  const email = newAddress()
  const password_hash = await bcrypt('right', 9)
  await createdPerson(app, { email, email_confirm: true, password_hash })
  return email
}

/** Processor time of the whole process, in milliseconds: a busy machine changes little in it. */
async function workOf(app: App, addresses: string[]): Promise<number> {
  const before = process.cpuUsage()
  for (const email of addresses) {
    const answer = await signIn(app, { email, password: 'wrong' })
    assert.deepEqual(outcomeOf(answer), [400, 'invalid_credentials'])
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
