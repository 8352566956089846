/** `npm run secrets`: the secrets that the container setup requires. */
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { makeSecrets, newFolder } from './env-file.ts'

const text = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8')

suite('npm run secrets', () => {
  test('restricts an existing .env to its owner', (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, '.env'), 'AUTH_SITE_URL=https://a.test\n', { mode: 0o644 })
    makeSecrets(folder)
    assert.equal(statSync(join(folder, '.env')).mode & 0o777, 0o600)
  })

  test('creates secrets once, readable by the owner only, and keeps other lines of .env', (t) => {
    const folder = newFolder(t)
    writeFileSync(join(folder, '.env'), 'AUTH_SITE_URL=http://x\nAUTH_JWT_SECRET=mine', {
      mode: 0o600,
    })
    const first = makeSecrets(folder)
    const second = makeSecrets(folder)
    assert.deepEqual(second, first)
    assert.equal(first.AUTH_SITE_URL, 'http://x')
    assert.equal(first.AUTH_JWT_SECRET, 'mine')
    assert.match(first.AUTH_ENCRYPTION_KEY ?? '', /^[\w-]{43}$/)
    const fresh = newFolder(t)
    assert.notEqual(makeSecrets(fresh).POSTGRES_PASSWORD, first.POSTGRES_PASSWORD)
    assert.equal(statSync(join(fresh, '.env')).mode & 0o777, 0o600)
  })

  test('creates each variable and password required by docker-compose.yml', (t) => {
    const secrets = makeSecrets(newFolder(t))
    const used = [...text.matchAll(/\$\{(\w+)(:-?\??[^}]*)?\}/g)]
    const needed = used.filter(
      ([, name = '', rest = '']) => !rest.startsWith(':-') || /(PASSWORD|SECRET|KEY)$/.test(name),
    )
    assert.ok(needed.length > 0)
    for (const [, name = ''] of needed) assert.ok(secrets[name], name)
    assert.equal(new Set(Object.values(secrets)).size, Object.keys(secrets).length)
  })
})
