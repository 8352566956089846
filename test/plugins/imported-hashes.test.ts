/** Hashes made by other programs: the right password is known, everything else is refused. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, test } from 'node:test'

import { hashSync as argonHash } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { isSupportedHash, verifyHash } from '../../plugins/passwords/hashes.ts'

const password = 'lètmein'
const cheap = { memoryCost: 8192, timeCost: 1, parallelism: 1 }
const sha256 = createHash('sha256').update(password).digest('hex')

const hashes: Record<string, string> = {
  'Django PBKDF2, SHA-256':
    'pbkdf2_sha256$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
  'Django PBKDF2, SHA-1': 'pbkdf2_sha1$20000$seasalt2$pJt86NmjAweBY1StBvxCu7l1o9o=',
  'passlib PBKDF2, SHA-512':
    '$pbkdf2-sha512$25000$8PHy8/T19vf4.fr7/P3./w$0STO/ymCg216nZEuoAINnRNduZA6CoKq/33.q4MJQ3eKnjN8c/RRrqgeJbEYO9SWONQLE6UkxQpQEGYEPEu7iw',
  'passlib PBKDF2, SHA-1': '$pbkdf2$1000$8PHy8/T19vf4.fr7/P3./w$2dR7RQBzM8AucQZS9jFU./.ZRBA',
  'PHC PBKDF2':
    '$pbkdf2-sha256$i=30000,l=32$8PHy8/T19vf4+fr7/P3+/w$7vXpuZ3/rFnidDuaCO37lt2qCzt/JeNRDplZ2SUnxbQ',
  argon2id: argonHash(password, cheap),
  'Django argon2': `argon2${argonHash(password, cheap)}`,
  bcrypt: bcryptHash(password, 4),
  'Django bcrypt': `bcrypt$${bcryptHash(password, 4)}`,
  'Django bcrypt_sha256': `bcrypt_sha256$${bcryptHash(sha256, 4)}`,
}

suite('imported hashes', () => {
  for (const [name, hash] of Object.entries(hashes)) {
    test(name, async () => {
      assert.ok(isSupportedHash(hash))
      assert.equal(await verifyHash(hash, password), true)
      assert.equal(await verifyHash(hash, 'letmein'), false)
      assert.equal(await verifyHash(hash, sha256), false)
      assert.equal(await verifyHash(hash, ''), false)
    })
  }

  test('bcrypt looks at 72 bytes of a password', async () => {
    const long = `${password}${'é'.repeat(32)}`
    assert.equal(Buffer.byteLength(long), 72)
    const hash = bcryptHash(long, 4)
    assert.equal(await verifyHash(hash, `${long} and more`), true)
    assert.equal(await verifyHash(hash, long.slice(0, -1)), false)
  })

  const refused = [
    '',
    'plain',
    'md5$salt$5f4dcc3b5aa765d61d8327deb882cf99',
    'pbkdf2_md5$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$0$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$99999999$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$20000$seasalt2$',
    'pbkdf2_sha256$20000$seasalt2$AAAA',
    'bcrypt_sha256$pbkdf2_sha1$20000$seasalt2$pJt86NmjAweBY1StBvxCu7l1o9o=',
    `argon2$${bcryptHash(password, 4)}`,
    '$argon2id$v=19$m=9999999,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2id$v=19$m=8192,t=21,p=1$c2FsdHNhbHQ$aGFzaGhhc2g',
    '$argon2id$v=19$m=8192,t=2,p=17$c2FsdHNhbHQ$aGFzaGhhc2g',
    `$2b$17$${'a'.repeat(53)}`,
    '$fbscrypt$v=1,n=21,r=8,p=1,ss=Bw==,sk=a2V5$c2FsdHNhbHQ=$aGFzaGhhc2g=',
    '$fbscrypt$v=1,n=4,r=65,p=1,ss=Bw==,sk=a2V5$c2FsdHNhbHQ=$aGFzaGhhc2g=',
    '$fbscrypt$v=1,n=4,r=8,p=17,ss=Bw==,sk=a2V5$c2FsdHNhbHQ=$aGFzaGhhc2g=',
  ]
  for (const hash of refused) {
    test(`refused: ${hash.slice(0, 50)}`, async () => {
      assert.equal(isSupportedHash(hash), false)
      assert.equal(await verifyHash(hash, password), false)
    })
  }

  test('a Firebase hash that is cut off is a wrong password', async () => {
    const cut = '$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$c2FsdHNhbHQ=$aGFzaA=='
    assert.equal(await verifyHash(cut, password), false)
  })
})
