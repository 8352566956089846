/** Exports of other servers in their documented formats: imported users sign in with their password. */
import assert from 'node:assert/strict'
import { createCipheriv, pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { hashRawSync } from '@node-rs/argon2'
import { hashSync as bcryptHash } from '@node-rs/bcrypt'

import { run } from '../../../cli/users/index.ts'
import { callCommand, commandEnvironment } from '../../support/processes/command-call.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { call } from '../../support/requests.ts'
import { build } from '../../support/server.ts'
import { password, signIn } from '../../support/users.ts'
import { convert } from './converter.ts'

const id = crypto.randomUUID()

suite('examples: sign-in of imported users', () => {
  test('imports Firebase users', async (t) => {
    const [salt, separator, signer] = [randomBytes(12), randomBytes(2), randomBytes(64)]
    const key = scryptSync(password, Buffer.concat([salt, separator]), 32, { N: 2 ** 10, r: 8 })
    const hash = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(signer)
    const google = { providerId: 'google.com', rawId: '1234', email: 'ann@example.com' }
    const account = {
      localId: 'xYz1',
      email: 'ann@example.com',
      emailVerified: true,
      passwordHash: hash.toString('base64'),
      salt: salt.toString('base64'),
      displayName: 'Ann',
      createdAt: '1600000000000',
      customAttributes: '{"plan":"gold"}',
      providerUserInfo: [{ providerId: 'password', rawId: 'ann@example.com' }, google],
    }
    const hashing = [signer.toString('base64'), separator.toString('base64'), '8', '10']
    const { user } = await brought(t, 'firebase.ts', { users: [account] }, hashing)
    assert.deepEqual(user.app_metadata.providers.toSorted(), ['email', 'google'])
    assert.equal(user.app_metadata.firebase_id, 'xYz1')
    assert.equal(user.app_metadata.plan, 'gold')
    assert.equal(user.created_at, '2020-09-13T12:26:40.000Z')
  })

  test('imports Auth0 users', async (t) => {
    const passwordHash = bcryptHash(password, 4)
    const account = { email: 'ann@example.com', email_verified: true, passwordHash, name: 'Ann' }
    const { user } = await brought(t, 'auth0.ts', account)
    assert.equal(user.user_metadata.full_name, 'Ann')
  })

  const salt = randomBytes(16)
  const keycloak: Record<string, { value: Buffer; output: object }> = {
    'pbkdf2-sha256': { value: pbkdf2Sync(password, salt, 1000, 64, 'sha256'), output: {} },
    'pbkdf2-sha512': { value: pbkdf2Sync(password, salt, 1000, 64, 'sha512'), output: {} },
    pbkdf2: { value: pbkdf2Sync(password, salt, 1000, 64, 'sha1'), output: {} },
    argon2: {
      value: hashRawSync(password, { salt, memoryCost: 1024, timeCost: 2, parallelism: 1 }),
      output: {
        hashIterations: 2,
        additionalParameters: { memory: ['1024'], parallelism: ['1'], type: ['id'] },
      },
    },
  }
  for (const [algorithm, { value, output }] of Object.entries(keycloak)) {
    test(`imports Keycloak users with ${algorithm}`, async (t) => {
      const secret = { value: value.toString('base64'), salt: salt.toString('base64') }
      const credential = {
        type: 'password',
        secretData: JSON.stringify(secret),
        credentialData: JSON.stringify({ algorithm, hashIterations: 1000, ...output }),
      }
      const named = { firstName: 'Ann', lastName: 'Example' }
      const address = { email: 'ann@example.com', emailVerified: true, enabled: true }
      const users = [{ id, ...named, ...address, credentials: [credential] }]
      const { user } = await brought(t, 'keycloak.ts', { users })
      assert.equal(user.id, id)
      assert.equal(user.user_metadata.full_name, 'Ann Example')
    })
  }

  test('imports Cognito users without hashes, who sign in with recovery or a link', async (t) => {
    const { app, lines } = await imported(t, 'cognito.ts', {
      Users: [
        {
          Enabled: true,
          UserCreateDate: '2024-02-01T10:00:00.123000+00:00',
          Attributes: [
            { Name: 'sub', Value: id },
            { Name: 'email', Value: 'ann@example.com' },
            { Name: 'email_verified', Value: 'true' },
          ],
        },
      ],
    })
    assert.match(lines, /^1 imported, 0 rejected/)
    assert.equal((await signIn(app, { email: 'ann@example.com' })).statusCode, 400)
    const recovery = await call(app, '/recover', { email: 'ann@example.com' })
    assert.equal(recovery.statusCode, 200, recovery.body)
  })
})

/** Converts and imports one user and signs in. */
async function brought(t: TestContext, program: string, exported: object, more: string[] = []) {
  const { app, lines } = await imported(t, program, exported, more)
  assert.match(lines, /^1 imported, 0 rejected/)
  assert.doesNotMatch(
    lines,
    /left out/,
    'the converter writes a field that the import does not know',
  )
  const response = await signIn(app, { email: 'ann@example.com' })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

async function imported(t: TestContext, program: string, exported: object, more: string[] = []) {
  const { app, database } = await build(t)
  const { text } = await convert(t, program, [exported], more)
  const file = join(temporaryFolder(t, 'import'), 'users.ndjson')
  await writeFile(file, text)
  const env = { ...commandEnvironment, DATABASE_URL: database.url }
  const { stdout: lines } = await callCommand(run, ['import', file], env)
  return { app, lines }
}
