/** Hashes of other programs: only the correct password is accepted. */
import assert from 'node:assert/strict'
import { createHash, pbkdf2Sync, scryptSync } from 'node:crypto'
import { suite, test } from 'node:test'

import { hashSync as argonHash } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { isSupportedHash, verifyHash } from '../../../../plugins/security/passwords/hashes.ts'

const password = 'lètmein'
const cheap = { memoryCost: 8192, timeCost: 1, parallelism: 1 }
const sha256 = createHash('sha256').update(password).digest('hex')

const salt = 'seasalt and more'
const base64 = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64').replaceAll('=', '')
const deriveScrypt = (N: number, length = 32) =>
  scryptSync(password, salt, length, { N, r: 8, p: 1 })

function aspnetHash(prf: number, digest: string): string {
  const header = Buffer.alloc(13)
  header.writeUInt8(1)
  header.writeUInt32BE(prf, 1)
  header.writeUInt32BE(1000, 5)
  header.writeUInt32BE(salt.length, 9)
  const key = pbkdf2Sync(password, salt, 1000, 32, digest)
  return Buffer.concat([header, Buffer.from(salt), key]).toString('base64')
}

function saltedHash(scheme: string, digest: string): string {
  const hash = createHash(digest).update(password).update(salt).digest()
  return scheme + Buffer.concat([hash, Buffer.from(salt)]).toString('base64')
}

/** From other programs: published vectors, or results of glibc’s `crypt`. */
const published: [name: string, password: string, hash: string][] = [
  [
    'ASP.NET Identity v3, SHA-1',
    'my password',
    'AQAAAAAAAAD6AAAAEAhftMyfTJylOlZT+eEotFXd1elee8ih5WsjXaR3PA9M',
  ],
  [
    'ASP.NET Identity v3, SHA-256',
    'my password',
    'AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
  ],
  [
    'passlib scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
  ['OpenLDAP', 'secret', '{SSHA}DkMTwBl+a/3DQTxCYEApdUtNXGgdUac3'],
  [
    'glibc SHA-512 with rounds and the longest salt',
    'Hello world!',
    '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
  ],
  [
    'glibc SHA-512, a password of several blocks',
    'we have a short salt string but not a short password. it is so long that it takes more than one block, ééé',
    '$6$rounds=10000$saltstringsaltst$BV1ePB.Ji7dPOJNXaQljMltkZunyZUKnr/Lp0M4GviGvaFZQykMwzH4BrKSxlh4ODXFtkPeZ/d7oNtEbOYD41.',
  ],
  [
    'glibc SHA-256, a password of several blocks',
    'we have a short salt string but not a short password. it is so long that it takes more than one block, ééé',
    '$5$rounds=1400$anotherlongsalts$IGvSvd2GfdlAro3HLbMIBe19KFlf0myBKqOBamHrFu5',
  ],
  [
    'glibc SHA-256, one letter',
    'x',
    '$5$rounds=1400$anotherlongsalts$Sc7CqXjeEEW7pIUfR0icTkllEosG2v2TDtavSKgJkZD',
  ],
]

const hashes: Record<string, string> = {
  'Django PBKDF2, SHA-256':
    'pbkdf2_sha256$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
  'Django PBKDF2, SHA-1': 'pbkdf2_sha1$20000$seasalt2$pJt86NmjAweBY1StBvxCu7l1o9o=',
  'passlib PBKDF2, SHA-512':
    '$pbkdf2-sha512$25000$8PHy8/T19vf4.fr7/P3./w$0STO/ymCg216nZEuoAINnRNduZA6CoKq/33.q4MJQ3eKnjN8c/RRrqgeJbEYO9SWONQLE6UkxQpQEGYEPEu7iw',
  'passlib PBKDF2, SHA-1': '$pbkdf2$1000$8PHy8/T19vf4.fr7/P3./w$2dR7RQBzM8AucQZS9jFU./.ZRBA',
  'PHC PBKDF2':
    '$pbkdf2-sha256$i=30000,l=32$8PHy8/T19vf4+fr7/P3+/w$7vXpuZ3/rFnidDuaCO37lt2qCzt/JeNRDplZ2SUnxbQ',
  // ASP.NET’s own vectors are in the test below, with another password.
  'ASP.NET Identity v3, SHA-512': aspnetHash(2, 'sha512'),
  'scrypt in PHC form': `$scrypt$ln=10,r=8,p=1$${base64(salt)}$${base64(deriveScrypt(1024))}`,
  'Django scrypt': `scrypt$1024$${salt}$8$1$${deriveScrypt(1024).toString('base64')}`,
  'Werkzeug scrypt': `scrypt:1024:8:1$${salt}$${deriveScrypt(1024, 64).toString('hex')}`,
  'LDAP SSHA': saltedHash('{SSHA}', 'sha1'),
  'LDAP SSHA256, in lower case': saltedHash('{ssha256}', 'sha256'),
  'LDAP SSHA384': saltedHash('{SSHA384}', 'sha384'),
  'LDAP SSHA512': saltedHash('{SSHA512}', 'sha512'),
  // By `openssl passwd`.
  'crypt(3) SHA-512':
    '$6$abcdefgh$OB19rYMN5TiVbGpg.nVcVmDsu6Uldh76yL/kXTGfC2zZHYYdV17JFtT5qVpqPzic3bwglaZIle7FRCEuo7ysy1',
  'crypt(3) SHA-256': '$5$abcdefgh$3Nl16uI22cgY6iGZnXrlYuE2Xwy67ma7najSKVBLfi/',
  'crypt(3) in LDAP': '{CRYPT}$5$abcdefgh$3Nl16uI22cgY6iGZnXrlYuE2Xwy67ma7najSKVBLfi/',
  argon2id: argonHash(password, cheap),
  'Django argon2': `argon2${argonHash(password, cheap)}`,
  bcrypt: bcryptHash(password, 4),
  'Django bcrypt': `bcrypt$${bcryptHash(password, 4)}`,
  'Django bcrypt_sha256': `bcrypt_sha256$${bcryptHash(sha256, 4)}`,
}

suite('imported hashes', () => {
  for (const [name, hash] of Object.entries(hashes)) {
    test(`verifies ${name}`, async () => {
      assert.ok(isSupportedHash(hash))
      assert.equal(await verifyHash(hash, password), true)
      assert.equal(await verifyHash(hash, 'letmein'), false)
      assert.equal(await verifyHash(hash, sha256), false)
      assert.equal(await verifyHash(hash, ''), false)
    })
  }

  for (const [name, right, hash] of published) {
    test(`verifies the published vector of ${name}`, async () => {
      assert.equal(await verifyHash(hash, right), true)
      assert.equal(await verifyHash(hash, `${right} `), false)
    })
  }

  test('computes crypt(3) outside the event loop', async () => {
    const ended = verifyHash(`$6$rounds=200000$abcdefgh$${'a'.repeat(86)}`, password)
    let isEnded = false
    void ended.then(() => {
      isEnded = true
    })
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    assert.equal(isEnded, false)
    assert.equal(await ended, false)
  })

  test('bcrypt uses 72 bytes of a password', async () => {
    const long = `${password}${'é'.repeat(32)}`
    assert.equal(Buffer.byteLength(long), 72)
    const hash = bcryptHash(long, 4)
    assert.equal(await verifyHash(hash, `${long} and more`), true)
    assert.equal(await verifyHash(hash, long.slice(0, -1)), false)
  })

  const rejected = [
    '',
    'plain',
    'md5$salt$5f4dcc3b5aa765d61d8327deb882cf99',
    'pbkdf2_md5$20000$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$0$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$99999999$seasalt2$Flpve/uAcyo6+IFI6YAhjeABGPVbRQjzHDxRhqxewgw=',
    'pbkdf2_sha256$20000$seasalt2$',
    'pbkdf2_sha256$20000$seasalt2$AAAA',
    `$6$rounds=1000001$abcdefgh$${'a'.repeat(86)}`,
    `$6$abcdefgh$${'a'.repeat(43)}`,
    `$5$abcdefgh$${'a'.repeat(86)}`,
    `$6$longerthansixteen$${'a'.repeat(86)}`,
    '$1$abcdefgh$G/cBwB8Tt1Wv.xLQGcnmN/',
    '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
    '{SMD5}7SKWwQbhq4yFDN9W0cXQGw==',
    '{SSHA}AAAA',
    '$scrypt$ln=24,r=8,p=1$c2FsdA$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
    '$scrypt$ln=16,r=8,p=99$c2FsdA$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
    `scrypt:1000:8:1$salt$${'a'.repeat(64)}`,
    'AQAAAAMAACcQAAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
    'AQAAAAEA////AAAAEAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
    'AQAAAAEAACcQAAD/EAABAgMEBQYHCAkKCwwNDg+yWU7rLgUwPZb1Itsmra7cbxw2EFpwpVFIEtP+JIuUEw==',
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
  for (const hash of rejected) {
    test(`rejects "${hash.slice(0, 50)}"`, async () => {
      assert.equal(isSupportedHash(hash), false)
      assert.equal(await verifyHash(hash, password), false)
    })
  }

  test('treats a truncated Firebase hash as a wrong password', async () => {
    const cut = '$fbscrypt$v=1,n=4,r=8,p=1,ss=Bw==,sk=a2V5$c2FsdHNhbHQ=$aGFzaA=='
    assert.equal(await verifyHash(cut, password), false)
  })
})
